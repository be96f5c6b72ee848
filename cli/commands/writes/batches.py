"""Writes batch by batch: progress, Ctrl-C after the batch, and the end when the cluster is gone."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Final, Generic, Self, TypeVar

from kgroups.cli.exits import write_lines
from kgroups.cli.output.printer import Printer
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.kafka.failures import UNHEARD, item_error

if TYPE_CHECKING:
    from kgroups.core.kafka.deadline import Deadline

BATCH: Final = 500
STDERR: Final = 2

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Progress(Generic[Key]):
    """How far the batches came.

    Args:
        answers: an error, or None where it was done, by key; what was never sent is missing,
            unless the cluster was gone.
        sent: how many names were sent and answered.
        interrupted: whether Ctrl-C ended it.
    """

    answers: Mapping[Key, ItemError | None]
    sent: int
    interrupted: bool = False


class Interrupt:
    """While it is entered, the first Ctrl-C only sets `asked`; the second one interrupts."""

    def __init__(self) -> None:
        self.asked = False
        self._former: object = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)  # type: ignore[arg-type]

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        # Not through `sys.stderr`: it may be in the middle of a write, and cannot be entered again.
        wipe = "\r\x1b[K" if os.isatty(STDERR) else ""
        with contextlib.suppress(OSError):
            os.write(
                STDERR, f"{wipe}stopping after this batch; Ctrl-C again stops at once\n".encode()
            )


def in_batches(
    printer: Printer,
    doing: str,
    what: str,
    names: Sequence[str],
    send: Callable[[Sequence[str], "Deadline"], Mapping[Key, ItemError | None]],
    keys_of: Callable[[str], Sequence[tuple[Key, str]]],
    until: "Deadline",
) -> Progress[Key]:
    """What became of the parts of each name.

    Args:
        printer: told how far it is.
        doing: `writing`.
        what: `groups`.
        names: what is to be sent.
        send: sends some of them by a deadline and gives the answer of each part.
        keys_of: the parts of a name: key, and target for messages.
        until: when to send no more. A batch that others follow gets half of what is left, so
            that a broker that hangs does not keep the others from theirs.
    """
    answers: dict[Key, ItemError | None] = {}
    sent = 0
    with Interrupt() as interrupt:
        while sent < len(names) and not interrupt.asked:
            _tell(printer, f"{doing}, {sent:,} of {len(names):,} {what}", many=len(names) > BATCH)
            batch = names[sent : sent + BATCH]
            last = sent + len(batch) == len(names)
            if until.is_over:
                rest = (part for name in names[sent:] for part in keys_of(name))
                answers |= {key: _too_late(target) for key, target in rest}
                break
            try:
                found = send(batch, until if last else until.part(1 / 2))
            except KgroupsError as error:
                found = {
                    key: ItemError.of(target, error)
                    for name in batch
                    for key, target in keys_of(name)
                }
            answers |= found
            sent += len(batch)
            if found and all(map(is_gone, found.values())):
                why = next(iter(found.values()))
                rest = (part for name in names[sent:] for part in keys_of(name))
                answers |= {key: _not_sent(why, target) for key, target in rest}
                break
    stopped = interrupt.asked and sent < len(names)
    if stopped:
        printer.wipe()
        write_lines([f"interrupted: {sent:,} of {len(names):,} {what} were sent"], [])
    return Progress(answers, sent, stopped)


def is_gone(error: ItemError | None) -> bool:
    """Whether an item failed because nobody answered."""
    return error is not None and error.code in UNHEARD


def _tell(printer: Printer, text: str, *, many: bool) -> None:
    if many:
        printer.waiting(text)
    else:
        printer.progress(text)


def _not_sent(why: ItemError | None, target: str) -> ItemError:
    assert why is not None, "the batch before failed"
    text = f"not sent, as the cluster was gone: {why.message}"
    return ItemError(target, why.code, text, why.hint, why.exit_code)


def _too_late(target: str) -> ItemError:
    return item_error(target, "REQUEST_TIMED_OUT", "not sent, as the time was over")
