"""The brokers' rules for moves between the classic protocol and KIP-848, and what is assumed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from kgroups.assignors.registry import SERVER_ASSIGNORS
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.releases import RELEASES, Release
from kgroups.core.errors import UsageError
from kgroups.core.planning.leaders.libraries import SPEAKERS
from kgroups.core.snapshot import Group, MemberProtocol, Topic

Kip848 = Literal["served", "refused", "missing"]

# Settings of a broker that decide about a move.
POLICY: Final = "group.consumer.migration.policy"
PROTOCOLS: Final = "group.coordinator.rebalance.protocols"
ASKED_FOR: Final = (
    POLICY,
    PROTOCOLS,
    "group.consumer.max.size",
    "group.consumer.assignors",
    "group.max.size",
)


@dataclass(frozen=True, slots=True)
class BrokerRules:
    """The brokers' rules for groups that change their protocol.

    Args:
        config: their settings; Kafka's defaults where they are not known.
        unknown: why their settings are not known, a clause; None if they are.
        kip848: `missing` where they have no ConsumerGroupHeartbeat at all, `refused` where they
            answer none.
        releases: that they may be of, oldest first; `config` has the last.
        protocols: `group.coordinator.rebalance.protocols`; None where they have no such setting,
            or do not tell it.
    """

    config: CoordinatorConfig = field(default_factory=CoordinatorConfig)
    unknown: str | None = None
    kip848: Kip848 = "served"
    protocols: str | None = None
    releases: tuple[Release, ...] = RELEASES

    @property
    def switched_off(self) -> bool:
        """Whether they could serve KIP-848, and are told not to."""
        named = (self.protocols or "consumer").lower().split(",")
        return "consumer" not in (part.strip() for part in named)


# Of a file, which has no brokers.
ASSUMED: Final = BrokerRules(unknown="a file does not have the brokers' settings")


def rules_from(
    settings: Mapping[str, str],
    failure: str | None,
    *,
    kip848: Kip848 = "served",
    releases: tuple[Release, ...] = RELEASES,
) -> BrokerRules:
    """The rules that a broker's settings make.

    Args:
        settings: of the group's coordinator by name, those that it has.
        failure: Kafka's error name where it does not tell them.
        kip848: what the coordinator makes of KIP-848; `served` also where that is not known.
        releases: that the coordinator may be of, oldest first.
    """
    newest = releases[-1]

    def unknown(why: str) -> BrokerRules:
        config = CoordinatorConfig(release=newest)
        return BrokerRules(
            config, f"the coordinator's settings {why}", kip848=kip848, releases=releases
        )

    if failure is not None:
        return unknown(f"cannot be read ({failure})")
    given = {name: settings[name] for name in ASKED_FOR if name in settings}
    protocols = given.pop(PROTOCOLS, None)
    try:
        config = CoordinatorConfig.from_properties(given, release=newest)
    except UsageError as error:
        return unknown(f"are not valid ({error.message})")
    missing = None if POLICY in given else f"the coordinator has no setting `{POLICY}`"
    return BrokerRules(config, missing, kip848, protocols, releases)


def check_assignor(name: str | None, protocol: MemberProtocol, rules: BrokerRules) -> None:
    """Refuse an assignor that members cannot use after the move.

    Raises:
        UsageError: brokers, or clients on the way back, do not have it.
    """
    default = rules.config.consumer_assignors[0]
    if name is None and protocol == "consumer" and default not in SERVER_ASSIGNORS:
        raise UsageError(
            f"the brokers assign by `{default}`, which kgroups does not have",
            hint=f"choose another one with `--assignor`: {', '.join(SERVER_ASSIGNORS)}",
            code="UNKNOWN_ASSIGNOR",
        )
    if name is None:
        return
    names = rules.config.consumer_assignors if protocol == "consumer" else tuple(SPEAKERS)
    if name not in names:
        side = "brokers have" if protocol == "consumer" else "clients have"
        raise UsageError(
            f"{side} no assignor `{name}`",
            hint="known: " + ", ".join(names),
            code="UNKNOWN_ASSIGNOR",
        )


def guesses_of(
    group: Group,
    topics: Mapping[str, Topic],
    protocol: MemberProtocol,
    assignor: str | None,
    rules: BrokerRules,
) -> Iterator[str]:
    """Assumptions about the brokers and the group, a clause each."""
    if rules.unknown is not None:
        policy = rules.config.consumer_migration_policy
        yield f"{rules.unknown}: `{POLICY}` is assumed to be {policy}, Kafka's default"
    read = sorted({name for m in group.members or () for name in m.subscription or ()})
    nameless = [name for name in read if name in topics and topics[name].topic_id is None]
    if nameless and len(read) > 1:
        yield (
            f"the coordinator orders topics by id, and the ids of {', '.join(nameless)} are unknown"
        )
    if protocol == "classic" and assignor is None:
        yield (
            "the assignor of the classic members is unknown: `range` is assumed, the default of"
            " Java and librdkafka; choose one with `--assignor`"
        )
