"""Which strategy decides a group's next rebalance, and by which protocol it is carried out."""

from dataclasses import dataclass
from typing import Final

from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import Assignor, AssignorError
from kgroups.core.errors import UsageError
from kgroups.core.planning.moves import RebalanceProtocol
from kgroups.core.snapshot import Group

COOPERATIVE: Final = frozenset({"cooperative-sticky"})


@dataclass(frozen=True, slots=True)
class Strategy:
    """An assignor in the place where it runs.

    Args:
        leader_client: the client library whose rules it follows; None server side.
        notes: what had to be assumed.
    """

    assignor: Assignor
    protocol: RebalanceProtocol
    leader_client: str | None = None
    notes: tuple[str, ...] = ()


def find_strategy(group: Group, name: str | None) -> Strategy:
    """The strategy of this name for a group; its own if no name is given.

    Raises:
        UsageError: no such strategy, or the group does not say which one it uses.
    """
    chosen = name or group.assignor
    if not chosen:
        raise UsageError(
            f"`{group.group}` does not say which assignor it uses", hint="name one: `--assignor`"
        )
    try:
        found = assignor(chosen)
    except AssignorError as error:
        raise UsageError(error.message, hint=error.hint, code="UNKNOWN_ASSIGNOR") from error
    protocol: RebalanceProtocol = "cooperative" if found.name in COOPERATIVE else "eager"
    return Strategy(found, protocol, "java")
