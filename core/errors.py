"""One tree of errors: a message, a hint and the exit code that the command line gives for it.

The protocol core (`core/coordinator`) answers with error *values* and raises none of these: an
exception there is a bug of ours. Everywhere else a failure that a user can cause or mend is one
of these classes; anything else that escapes is a bug and ends with exit code 70.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar


class KgroupsError(Exception):
    """Base of every failure that is not a bug in kgroups.

    Args:
        message: one sentence without a full stop; values in backticks.
        hint: what to do next, or None.
        code: Kafka's error name (`GROUP_ID_NOT_FOUND`) or one of ours, for the JSON envelope.
    """

    exit_code: ClassVar[int] = 1
    default_code: ClassVar[str] = "FAILED"

    def __init__(self, message: str, *, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code


class MixedFailures(KgroupsError):
    """Items failed in several ways, or in a way that has no exit code of its own."""

    exit_code = 1
    default_code = "MIXED_FAILURES"


class UsageError(KgroupsError):
    """The arguments, or a file named by them, cannot be understood."""

    exit_code = 2
    default_code = "USAGE"


class ClusterError(KgroupsError):
    """The cluster is unreachable, did not answer in time, or refuses access."""

    exit_code = 3
    default_code = "CLUSTER"


class RefusedError(KgroupsError):
    """What was asked is forbidden: by a group's state (members alive, rebalancing, fenced), or by
    a guard on writes.
    """

    exit_code = 4
    default_code = "REFUSED"


class NotFoundError(KgroupsError):
    """A group, topic, partition or member that was named does not exist."""

    exit_code = 5
    default_code = "NOT_FOUND"


class EmptyWindowError(NotFoundError):
    """No capture was taken in a window of time."""


class CheckFailed(KgroupsError):
    """A condition that the user gave was met, or could not be determined."""

    exit_code = 6
    default_code = "CHECK_FAILED"


class DeadlinePassed(KgroupsError):
    """A condition was not met in time."""

    exit_code = 7
    default_code = "DEADLINE_PASSED"


class UnprintedError(KgroupsError):
    """The work is done, but its result could not be printed (EX_IOERR of sysexits.h)."""

    exit_code = 74
    default_code = "UNPRINTED"


def shorten(text: str, limit: int = 200) -> str:
    """The text, cut to `limit` characters with `…` at the end.

    For words that others chose and that stand in a message: a host name may be 32 kB long.
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def counted(number: int, noun: str) -> str:
    """`1 group`, `2,000 groups`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def meant(text: str, names: Iterable[str], most: int = 1) -> str | None:
    """`did you mean `lag`?`: the names that are written nearly like the text; None without any."""
    from difflib import get_close_matches

    near = ", ".join(f"`{name}`" for name in get_close_matches(text, list(names), most))
    return f"did you mean {near}?" if near else None


def guess(text: str, names: Iterable[str], most: int = 1) -> str:
    """The same as the end of a sentence."""
    hint = meant(text, names, most)
    return f"; {hint}" if hint else ""


EXIT_CODE_BUG = 70
EXIT_CODE_UNPRINTED = UnprintedError.exit_code
EXIT_CODE_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ItemError:
    """The failure of one item (group, partition, broker) of a command whose others went on.

    One entry of `errors` in the JSON envelope.

    Args:
        target: what failed: a group name, `topic-partition`, `broker 3 (host:port)`.
        code: Kafka's error name, or one of ours.
        message: one sentence without a full stop.
        hint: what to do next, or None.
        exit_code: what the process ends with when all failures are of this kind.
    """

    target: str
    code: str
    message: str
    hint: str | None = None
    exit_code: int = 1

    @classmethod
    def of(cls, target: str, error: KgroupsError) -> "ItemError":
        """The failure that ended the work on one item."""
        return cls(target, error.code, error.message, error.hint, error.exit_code)

    @property
    def text(self) -> str:
        """The message with the name of what failed before it, unless it begins with that."""
        name = f"`{self.target}`"
        return self.message if self.message.startswith(name) else f"{name}: {self.message}"

    @property
    def error_class(self) -> type[KgroupsError]:
        """The class of errors that ends a command with the same exit code."""
        return _BY_EXIT_CODE.get(self.exit_code, MixedFailures)

    def as_error(self) -> KgroupsError:
        """The same failure where nothing is left to go on with."""
        return self.error_class(self.text, hint=self.hint, code=self.code)


_BY_EXIT_CODE = {
    kind.exit_code: kind
    for kind in (
        MixedFailures,
        UsageError,
        ClusterError,
        RefusedError,
        NotFoundError,
        CheckFailed,
        DeadlinePassed,
    )
}
"""The class of an exit code."""


def exit_code_of(errors: list[ItemError] | tuple[ItemError, ...]) -> int:
    """Exit code for these failures: 0 for none, theirs if of one kind, else 1."""
    kinds = {error.exit_code for error in errors}
    if not kinds:
        return 0
    return kinds.pop() if len(kinds) == 1 else MixedFailures.exit_code


class PatternError(ValueError):
    """A pattern of names does not compile; the text says why."""
