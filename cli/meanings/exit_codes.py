"""Every exit code of our own grammar."""

from typing import Final

from kgroups.cli.meanings.meaning import Meaning
from kgroups.core.errors import EXIT_CODE_BUG, EXIT_CODE_INTERRUPTED, EXIT_CODE_UNPRINTED

_ROWS: Final[tuple[tuple[int, str, str | None], ...]] = (
    (0, "done", None),
    (
        1,
        "an item failed in a way that has no code of its own, or items failed in several ways",
        "read the errors on stderr, or `errors` of the JSON document",
    ),
    (
        2,
        "usage: the arguments or a file are not valid; nothing was written",
        "read the hint, or `kgroups COMMAND --help`",
    ),
    (
        3,
        "the cluster is unreachable, did not answer in time, or denied access",
        "check the address, the login and the ACLs, or increase --timeout; a write that was not "
        "answered is `unknown`: look before you repeat it",
    ),
    (
        4,
        "refused: the group's state forbids it, or a guard or a saved file no longer applies",
        "stop the group's consumers (`kgroups wait GROUP --until empty`), or follow the hint",
    ),
    (
        5,
        "a group, topic, partition or member does not exist",
        "check the spelling; `kgroups list` shows the groups",
    ),
    (
        6,
        "a condition was met, or could not be determined",
        "read which; --allow-unknown of `check` lets what is not known pass",
    ),
    (7, "the deadline passed before the condition held", "use a longer --deadline"),
    (
        EXIT_CODE_BUG,
        "a bug in kgroups",
        "report it with the command and what --verbose adds",
    ),
    (
        EXIT_CODE_UNPRINTED,
        "the work is done, but its result could not be printed",
        "check where stdout goes, or the --query; an undo file holds what a reset did",
    ),
    (129, "interrupted by SIGHUP", None),
    (EXIT_CODE_INTERRUPTED, "interrupted by Ctrl-C (SIGINT), or you declined", None),
    (143, "interrupted by SIGTERM", None),
)

EXIT_CODES: Final = tuple(
    Meaning(str(code), "exit code", meaning, to_do, code) for code, meaning, to_do in _ROWS
)
