"""Which strategy decides a group's next rebalance, and by which protocol it is carried out.

A classic group's leader is a client, and client libraries differ in how they compute a strategy
of the same name: there is a strategy for each library that may lead. A KIP-848 group's assignment
is the coordinator's, so nobody has to be guessed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from kgroups.assignors.java.former_leaders import java_before, release_of
from kgroups.assignors.other_clients.variants import RACK_BALANCING, RELEASES, is_exact
from kgroups.assignors.registry import (
    CLIENT_ASSIGNORS,
    SERVER_ASSIGNORS,
    assignor,
    server_assignor,
)
from kgroups.assignors.spec import Assignor, AssignorError
from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.planning.leaders.guess import LeaderGuess
from kgroups.core.planning.leaders.libraries import SPEAKERS
from kgroups.core.planning.moves import RebalanceProtocol
from kgroups.core.snapshot import Group

COOPERATIVE: Final = frozenset({"cooperative-sticky"})
DEFAULT_SERVER_ASSIGNOR: Final = "uniform"
FRANZ_GO: Final = "franz-go"
JAVA: Final = "java"


def known_release(library: str, version: str) -> str | None:
    """The release of Java that a version is of; None of another library: it has one way only.

    Raises:
        UsageError: what leaders of this version assign is not known.
    """
    if library == "java":
        try:
            return release_of(version)
        except AssignorError as error:
            raise UsageError(error.message, hint=error.hint) from error
    if f"{version}.".startswith(f"{RELEASES[library]}."):
        return None
    raise UsageError(
        f"how leaders of {library} {version} assign is not known",
        hint=f"known: {library} {RELEASES[library]}",
    )


@dataclass(frozen=True, slots=True)
class Strategy:
    """An assignor in the place where it runs.

    Args:
        leader_client: the client library whose rules it follows; None server side, and for a
            strategy that no library brings along.
        doubt: why its choice of partitions may be another one than that library's; None if it is
            the library's own.
        notes: what had to be assumed.
        balances_racks: whether it is franz-go's where the application says `BalanceRacks`.
        said: whether the user named the library.
        leaders: ids of the members that may lead with that library; empty if that is not known.
    """

    assignor: Assignor
    protocol: RebalanceProtocol
    leader_client: str | None = None
    doubt: str | None = None
    notes: tuple[str, ...] = ()
    balances_racks: bool = False
    said: bool = False
    leaders: frozenset[str] = frozenset()

    @property
    def runs_on_broker(self) -> bool:
        """Whether the coordinator assigns."""
        return self.protocol == "consumer"


def chosen_assignor(group: Group, name: str | None = None) -> str:
    """The name of the strategy to plan with: the one that was said, or the group's own.

    Raises:
        UsageError: the group does not say which one it uses.
    """
    chosen = name or group.assignor
    if chosen:
        return chosen
    if group.type == "consumer":
        return DEFAULT_SERVER_ASSIGNOR
    raise UsageError(
        f"the assignor of `{group.group}` is not known", hint="choose one with `--assignor`"
    )


def runs_on_broker(group: Group, name: str) -> bool:
    """Whether the coordinator runs this strategy: it is its group, or only it knows the name."""
    return group.type == "consumer" or (name in SERVER_ASSIGNORS and name not in CLIENT_ASSIGNORS)


def server_strategy(group: Group, name: str) -> Strategy:
    """A strategy that the coordinator runs; also one of the user's own, as a broker would.

    Raises:
        UsageError: there is no such strategy.
    """
    notes: tuple[str, ...] = ()
    if group.type != "consumer":
        notes = ("planned as if the group had been upgraded to the KIP-848 protocol",)
    try:
        strategy = server_assignor(name) if ":" not in name else assignor(name)
    except AssignorError as error:
        raise UsageError(
            f"brokers have no assignor `{name}`", hint=error.hint, code="UNKNOWN_ASSIGNOR"
        ) from error
    doubt = _foreign(name, strategy) if ":" in name else None
    return Strategy(strategy, "consumer", doubt=doubt, notes=notes)


def leader_strategies(
    name: str,
    guess: LeaderGuess,
    rack_settings: Collection[bool] = (False,),
    racks_known: bool = True,
    release: str | None = None,
) -> tuple[Strategy, ...]:
    """The strategy of this name as each library that may lead computes it, the likeliest first.

    Args:
        rack_settings: whether a franz-go leader may balance racks, and whether it may not.
        racks_known: whether it is known in which racks partitions are led.
        release: of a Java leader; None: today's.
    Raises:
        UsageError: no such strategy or library.
        KgroupsError: a strategy of the user's own that cannot be loaded.
    """
    protocol: RebalanceProtocol = "cooperative" if name in COOPERATIVE else "eager"
    if name not in SPEAKERS:
        strategy = _load(name, "java")
        return (Strategy(strategy, protocol, doubt=_foreign(name, strategy)),)
    if guess.foreign:
        doubt = f"no client library sends the members' user data, so `{name}` is a custom assignor"
        return (Strategy(_load(name, guess.likeliest), protocol, doubt=doubt),)
    return tuple(
        Strategy(
            RACK_BALANCING[name] if balances_racks else _load(name, library, release),
            protocol,
            library,
            _doubt(library, name, guess, unknown_racks=balances_racks and not racks_known),
            balances_racks=balances_racks,
            said=guess.said,
            leaders=frozenset(lib for lib, can_be in guess.leaders.items() if library in can_be),
        )
        for library in guess.libraries
        for balances_racks in _settings(library, name, rack_settings)
    )


def _settings(library: str, name: str, rack_settings: Collection[bool]) -> Sequence[bool]:
    """In which ways this library computes the strategy, the likelier first."""
    if library != FRANZ_GO or name not in RACK_BALANCING:
        return (False,)
    return sorted(rack_settings)


def _doubt(library: str, name: str, guess: LeaderGuess, *, unknown_racks: bool) -> str | None:
    """Why the library's choice of partitions may be another one; None if it is its own."""
    if library in guess.older:
        return f"the members may be of a {library} release whose `{name}` is older than ours"
    if is_exact(library, name) and not unknown_racks:
        return None
    return f"a {library} leader's `{name}` may choose other partitions, and move a few more"


def _foreign(name: str, strategy: Assignor) -> str:
    """Why the answers of a strategy that neither Kafka nor a client library brings may differ."""
    if "deterministic" in getattr(strategy, "waives", ()):
        return f"`{name}` may answer the same question differently"
    return f"`{name}` is not a class of Kafka or of a client library: the group may run another one"


def _load(name: str, library: str, release: str | None = None) -> Assignor:
    try:
        former = java_before(release, name) if release and library == JAVA else None
        return former or assignor(name, library)
    except AssignorError as error:
        if ":" in name:
            raise KgroupsError(error.message, hint=error.hint, code="ASSIGNOR_FAILED") from error
        raise UsageError(error.message, hint=error.hint, code="UNKNOWN_ASSIGNOR") from error
