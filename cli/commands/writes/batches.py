"""Writes batch by batch: progress, Ctrl-C after the batch, and the end when the cluster is gone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from kgroups.cli.exits import write_lines
from kgroups.cli.interruption import Interruption, not_waited_for
from kgroups.cli.output.printer import Printer
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.kafka.failures import UNHEARD, item_error

if TYPE_CHECKING:
    from kgroups.core.kafka.deadline import Deadline

BATCH: Final = 500

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Progress(Generic[Key]):
    """How far the batches came.

    Args:
        answers: an error, or None where it was done, by key; what was never sent is missing,
            unless the cluster was gone.
        sent: how many names were sent.
    """

    answers: Mapping[Key, ItemError | None]
    sent: int


def in_batches(
    printer: Printer,
    interruption: Interruption,
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
        interruption: Ctrl-C ends it after a batch.
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
    while sent < len(names) and not interruption.asked:
        _tell(printer, f"{doing}, {sent:,} of {len(names):,} {what}", many=len(names) > BATCH)
        batch = names[sent : sent + BATCH]
        last = sent + len(batch) == len(names)
        if until.is_over:
            answers |= {key: _too_late(target) for key, target in _parts(names[sent:], keys_of)}
            break
        try:
            limit = until if last else until.part(1 / 2)
            found = interruption.send(partial(send, batch, limit))
        except KgroupsError as error:
            found = {key: ItemError.of(target, error) for key, target in _parts(batch, keys_of)}
        if found is None:
            found = {key: not_waited_for(target) for key, target in _parts(batch, keys_of)}
        answers |= found
        sent += len(batch)
        if found and all(map(is_gone, found.values())):
            why = next(iter(found.values()))
            answers |= {
                key: _not_sent(why, target) for key, target in _parts(names[sent:], keys_of)
            }
            break
    if interruption.asked:
        printer.wipe()
        many = "all" if sent == len(names) else f"{sent:,} of"
        write_lines([f"interrupted: {many} {len(names):,} {what} were sent"], [])
    return Progress(answers, sent)


def _parts(
    names: Sequence[str], keys_of: Callable[[str], Sequence[tuple[Key, str]]]
) -> Iterator[tuple[Key, str]]:
    return (part for name in names for part in keys_of(name))


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
    text = f"not sent: the cluster is unreachable: {why.message}"
    return ItemError(target, why.code, text, why.hint, why.exit_code)


def _too_late(target: str) -> ItemError:
    return item_error(target, "REQUEST_TIMED_OUT", "not sent: timed out")
