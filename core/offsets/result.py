"""What became of one item of a write: the words, and the doubt about an answer that never came."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

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
