"""Writes batch by batch, with Ctrl-C after the batch, and looks at the cluster afterwards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from kgroups.cli.commands.writes.writing import Run
from kgroups.cli.exits import write_lines
from kgroups.cli.interruption import not_waited_for
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import UNHEARD, item_error
from kgroups.core.offsets.result import Item, apply_answers, planned_of

BATCH: Final = 500

Answers = Mapping[Any, ItemError | None]
Units = Mapping[str, Sequence[Item]]
"""Items by what is sent as a whole."""


def in_batches(
    run: Run,
    items: Sequence[Item],
    send: Callable[[Units[Item], Deadline], Answers],
    doing: str,
    what: str,
    unit: Callable[[Item], str],
    *,
    size: int = BATCH,
    until: Deadline | None = None,
    whole: Callable[[Item], Any] | None = None,
) -> list[Item]:
    """The items with what became of the planned ones; skipped where Ctrl-C came before.

    Args:
        send: sends the items of some units by a deadline and gives the answers by key.
        doing: `writing`.
        what: `groups`.
        unit: what is sent as a whole: the group of an item.
        until: when to send no more. A batch that others follow gets half of what is left, so
            that a broker that hangs does not keep the others from theirs.
        whole: as for `apply_answers`.
    """
    interruption = run.interruption
    units: dict[str, list[Item]] = {}
    for item in planned_of(items):
        units.setdefault(unit(item), []).append(item)
    until = until or run.admin.ends()
    names, sent = list(units), 0
    answers: dict[Any, ItemError | None] = {}
    while sent < len(names) and not interruption.asked:
        tell = run.printer.waiting if len(names) > size else run.printer.progress
        tell(f"{doing}, {sent:,} of {len(names):,} {what}")
        batch = names[sent : sent + size]
        if until.is_over:
            answers |= _alike(
                units,
                names[sent:],
                lambda name: item_error(name, "REQUEST_TIMED_OUT", "not sent: timed out"),
            )
            break
        limit = until if sent + len(batch) == len(names) else until.part(1 / 2)
        given: Answers | None
        try:
            parts = {name: units[name] for name in batch}
            given = interruption.send(partial(send, parts, limit))
        except KgroupsError as error:
            given = _alike(units, batch, partial(ItemError.of, error=error))
        if given is None:
            given = _alike(units, batch, not_waited_for)
        answers |= given
        sent += len(batch)
        if given and all(map(is_gone, given.values())):
            answers |= _alike(units, names[sent:], partial(_not_sent, next(iter(given.values()))))
            break
    if interruption.asked:
        run.printer.wipe()
        many = "all" if sent == len(names) else f"{sent:,} of"
        write_lines([f"interrupted: {many} {len(names):,} {what} were sent"], [])
        left = set(names[sent:])
        items = [
            item._replace(result="skipped")
            if item.result == "planned" and unit(item) in left
            else item
            for item in items
        ]
    return apply_answers(items, answers, whole)


def _alike(
    units: Mapping[str, Sequence[Item]],
    names: Iterable[str],
    error: Callable[[str], ItemError],
) -> dict[Any, ItemError | None]:
    return {item.key: error(item.target) for name in names for item in units[name]}


def is_gone(error: ItemError | None) -> bool:
    """Whether an item failed because nobody answered."""
    return error is not None and error.code in UNHEARD


def _not_sent(why: ItemError | None, target: str) -> ItemError:
    assert why is not None, "the batch before failed"
    text = f"not sent: the cluster is unreachable: {why.message}"
    return replace(item_error(target, why.code, text), hint=why.hint, exit_code=why.exit_code)


def look_again(
    run: Run,
    written: Sequence[Item],
    look: Callable[[], list[Item]],
    unseen: Sequence[Item] | None = None,
) -> list[Item]:
    """The items after looks at the cluster, until all is seen, the time is over or Ctrl-C comes.

    Args:
        unseen: the items where nothing can be seen; None: as they are written.
    """
    checked = [list(written if unseen is None else unseen)]

    def is_open(before: Item, now: Item) -> bool:
        is_seen = (now.result, now.note) == ("done", before.note)
        return now.result == "unknown" or (before.result == "done" and not is_seen)

    def ask() -> None:
        for _ in Attempts(run.admin.ends(), whole=True):
            if not any(map(is_open, written, checked[-1])):
                break
            with suppress(KgroupsError):
                checked.append(look())

    run.interruption.look(ask, None)
    return checked[-1]
