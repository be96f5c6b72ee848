"""Outcomes of the items of a write: the words, the broker's answers, a look afterwards."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, Self, TypeVar, get_args

from kgroups.core.errors import ItemError, RefusedError

Result = Literal["planned", "done", "refused", "failed", "skipped", "unknown"]
RESULTS: Final[tuple[Result, ...]] = get_args(Result)


@dataclass(frozen=True, slots=True)
class Doubt(ItemError):
    """A failure after which the write may have been carried out all the same.

    Args:
        cause: the failure in one sentence; the message says besides that nothing is known.
        in_flight: no answer came, so it may be carried out even now. Otherwise the broker gave an
            answer that does not tell, and what is seen in the cluster afterwards is final.
    """

    cause: str = ""
    in_flight: bool = True

    @property
    def refuted(self) -> ItemError:
        """The failure when the cluster shows that nothing has been written so far."""
        if self.in_flight:
            return self
        return ItemError(self.target, self.code, self.cause, self.hint, self.exit_code)


def result_of(error: ItemError | None) -> Result:
    """`done`, `unknown`, `refused` by the state of a group, or `failed` for any other reason."""
    if error is None:
        return "done"
    if isinstance(error, Doubt):
        return "unknown"
    return "refused" if error.exit_code == RefusedError.exit_code else "failed"


class WriteItem(Protocol):
    """One item of a write: a commit, a group, the records of a partition, a member.

    Items are named tuples that end with a note for people, a result, and an error or None.
    """

    @property
    def key(self) -> Hashable:
        """Name of the item in answers."""

    @property
    def target(self) -> str:
        """Its name in messages."""

    @property
    def note(self) -> str | None:
        """Remark on the item."""

    @property
    def result(self) -> Result:
        """`planned` until it is applied; `skipped` where nothing is, or was, to be done."""

    @property
    def error(self) -> ItemError | None:
        """Why it came to nothing, or why it is not known."""

    def failed(self, error: ItemError) -> Self:
        """The same item that came to nothing, or of which it is not known."""

    def __getitem__(self, part: slice, /) -> tuple[Any, ...]: ...

    @property
    def _make(self) -> Any: ...

    def _replace(self, *args: Any, **fields: Any) -> Self: ...


Item = TypeVar("Item", bound=WriteItem)

_SILENCE: Final = ItemError("", "FAILED", "the broker did not respond")


def planned_of(items: Iterable[Item]) -> list[Item]:
    """The items that are to be applied."""
    return [item for item in items if item.result == "planned"]


def skip_planned(items: Iterable[Item]) -> list[Item]:
    """The same items with every planned one skipped: nothing is to be written."""
    return [item._replace(result="skipped") if item.result == "planned" else item for item in items]


def apply_answers(
    items: Iterable[Item],
    answers: Mapping[Any, ItemError | None],
    whole: Callable[[Item], Hashable] | None = None,
) -> list[Item]:
    """The items with what the brokers answered for each planned one.

    Args:
        answers: an error or None by key; one that is missing was not answered.
        whole: the key of what an item is a part of, if one answer may be for all parts.
    """
    applied: list[Item] = []
    for item in items:
        if item.result == "planned":
            error = _SILENCE if whole is None else answers.get(whole(item), _SILENCE)
            if error is _SILENCE:
                error = answers.get(item.key, _SILENCE)
            if error is _SILENCE:
                error = replace(_SILENCE, target=item.target)
            if error is None:  # nearly always, and twice as fast so as by `_replace`
                item = item._make((*item[:-2], "done", None))
            else:
                item = item.failed(error)
        applied.append(item)
    return applied


def seen(item: Item, *, is_done: bool, text: str, hint: str | None = None) -> Item:
    """An item that is done, or of which it is not known, after a look at the cluster.

    What is seen there is done, whatever the answer was.
    """
    if is_done:
        return item if item.error is None else item._replace(result="done", error=None)
    if isinstance(item.error, Doubt):
        return item.failed(item.error.refuted)
    return item.failed(ItemError(item.target, "NOT_VERIFIED", text, hint))
