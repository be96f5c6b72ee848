"""Which strategy decides a group's next rebalance, and by which protocol it is carried out.

A classic group's leader is a client, and client libraries differ in how they compute a strategy
of the same name; a KIP-848 group's assignment is the coordinator's, so nobody has to be guessed.
"""

from dataclasses import dataclass
from typing import Final

from kgroups.assignors.other_clients.variants import is_exact
from kgroups.assignors.registry import (
    CLIENT_ASSIGNORS,
    SERVER_ASSIGNORS,
    assignor,
    server_assignor,
)
from kgroups.assignors.spec import Assignor, AssignorError
from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.moves import RebalanceProtocol
from kgroups.core.snapshot import Group

COOPERATIVE: Final = frozenset({"cooperative-sticky"})
DEFAULT_SERVER_ASSIGNOR: Final = "uniform"

# Strategies of clients that Kafka and the client libraries bring along.
WELL_KNOWN: Final = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky"})


@dataclass(frozen=True, slots=True)
class Strategy:
    """An assignor in the place where it runs.

    Args:
        leader_client: the client library whose rules it follows; None server side.
        exact: whether its choice of partitions is that library's, or only their number.
        notes: what had to be assumed.
    """

    assignor: Assignor
    protocol: RebalanceProtocol
    leader_client: str | None = None
    exact: bool = True
    notes: tuple[str, ...] = ()

    @property
    def server_side(self) -> bool:
        """Whether the coordinator assigns."""
        return self.protocol == "consumer"


def find_strategies(
    group: Group, name: str | None = None, leader: str | None = None
) -> tuple[Strategy, ...]:
    """The strategies that may decide a group's next rebalance, the likeliest first.

    Args:
        name: the strategy to plan with; None: the group's own. A name that only coordinators
            know (`uniform`) plans a classic group as it would be after its upgrade to KIP-848.
        leader: the client library of the leader; None: inferred.
    Raises:
        UsageError: no such strategy, or the group does not say which one it uses.
        KgroupsError: a strategy of the user's own that cannot be loaded.
    """
    chosen = name or group.assignor
    if group.type == "consumer":
        return (_server_strategy(chosen or DEFAULT_SERVER_ASSIGNOR, group),)
    if not chosen:
        raise UsageError(
            f"`{group.group}` does not say which assignor it uses", hint="name one: `--assignor`"
        )
    if chosen in SERVER_ASSIGNORS and chosen not in CLIENT_ASSIGNORS:
        return (_server_strategy(chosen, group),)
    protocol: RebalanceProtocol = "cooperative" if chosen in COOPERATIVE else "eager"
    if chosen not in WELL_KNOWN:
        return (Strategy(_load(chosen, "java"), protocol),)
    guess = infer_leader(group, leader)
    found: dict[int, Strategy] = {}
    for library in guess.libraries:
        strategy = _load(chosen, library)
        exact = is_exact(library, chosen) and (library == "java" or _sure(group, library, chosen))
        notes = () if exact else (_inexact_note(library, chosen),)
        # Java's class stands in for libraries without a variant of their own: run it once.
        found.setdefault(id(strategy), Strategy(strategy, protocol, library, exact, notes))
    return tuple(found.values())


def _sure(group: Group, library: str, name: str) -> bool:
    """Whether a variant was seen to be right for such a group.

    Sticky ones if all members read the same and none has a rack; franz-go looks at racks only if
    its application says so, which does not show.
    """
    members = group.members or ()
    racked = any(member.rack for member in members)
    if name in COOPERATIVE:
        return not racked and len({frozenset(each.subscription or ()) for each in members}) <= 1
    return not (racked and name == "range" and library == "franz-go")


def _server_strategy(name: str, group: Group) -> Strategy:
    """A strategy that the coordinator runs; also one of the user's own, as a broker would."""
    notes: tuple[str, ...] = ()
    if group.type != "consumer":
        notes = ("planned as if the group had been upgraded to the KIP-848 protocol",)
    try:
        found = server_assignor(name) if ":" not in name else assignor(name)
    except AssignorError as error:
        raise UsageError(
            f"coordinators have no assignor `{name}`", hint=error.hint, code="UNKNOWN_ASSIGNOR"
        ) from error
    return Strategy(found, "consumer", notes=notes)


def _load(name: str, library: str) -> Assignor:
    try:
        return assignor(name, library)
    except AssignorError as error:
        if ":" in name:
            raise KgroupsError(error.message, hint=error.hint, code="ASSIGNOR_FAILED") from error
        raise UsageError(error.message, hint=error.hint, code="UNKNOWN_ASSIGNOR") from error


def _inexact_note(library: str, name: str) -> str:
    return (
        f"a {library} leader's `{name}` makes shares as even as shown, but it may choose other"
        " partitions, and move a few more"
    )
