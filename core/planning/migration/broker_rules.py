"""What the brokers allow of moves between the classic protocol and KIP-848."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from kgroups.core.coordinator.config import CoordinatorConfig

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
    """What the brokers say about groups that change their protocol.

    Args:
        config: their settings; Kafka's defaults where they are not known.
        unknown: why their settings are not known, a clause; None if they are.
        kip848: `missing` where they have no ConsumerGroupHeartbeat at all, `refused` where they
            answer none.
        protocols: `group.coordinator.rebalance.protocols`; None where they have no such setting,
            or do not tell it.
    """

    config: CoordinatorConfig = field(default_factory=CoordinatorConfig)
    unknown: str | None = None
    kip848: Kip848 = "served"
    protocols: str | None = None

    @property
    def switched_off(self) -> bool:
        """Whether they could serve KIP-848, and are told not to."""
        named = (self.protocols or "consumer").lower().split(",")
        return "consumer" not in (each.strip() for each in named)


# Of a file, which has no brokers.
ASSUMED: Final = BrokerRules(unknown="a file does not have the brokers' settings")


def rules_from(
    settings: Mapping[str, str], failure: str | None, *, kip848: Kip848 = "served"
) -> BrokerRules:
    """The rules that a broker's settings make.

    Args:
        settings: of the group's coordinator by name, those that it has.
        failure: Kafka's error name where it does not tell them.
        kip848: what the coordinator makes of KIP-848; `served` also where that is not known.
    """
    if failure is not None:
        return BrokerRules(
            unknown=f"the coordinator's settings cannot be read ({failure})", kip848=kip848
        )
    known = {name: settings[name] for name in ASKED_FOR if name in settings}
    protocols = known.pop(PROTOCOLS, None)
    try:
        config = CoordinatorConfig.from_properties(known)
    except ValueError as error:
        return BrokerRules(
            unknown=f"the coordinator's settings are not valid ({error})", kip848=kip848
        )
    missing = None if POLICY in known else f"the coordinator has no setting `{POLICY}`"
    return BrokerRules(config, missing, kip848, protocols)
