"""What the brokers allow of moves between the classic protocol and KIP-848."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.coordinator.config import CoordinatorConfig

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
        serves_kip848: whether they have ConsumerGroupHeartbeat at all.
        protocols: `group.coordinator.rebalance.protocols`; None where they have no such setting.
    """

    config: CoordinatorConfig = field(default_factory=CoordinatorConfig)
    unknown: str | None = None
    serves_kip848: bool = True
    protocols: str | None = None

    @property
    def switched_off(self) -> bool:
        """Whether they could serve KIP-848, and are told not to."""
        named = (self.protocols or "consumer").lower().split(",")
        return "consumer" not in (each.strip() for each in named)


# Of a file, which has no brokers.
ASSUMED: Final = BrokerRules(unknown="a file does not have the brokers' settings")


def rules_from(
    settings: Mapping[str, str], failure: str | None, *, serves_kip848: bool | None
) -> BrokerRules:
    """The rules that a broker's settings make.

    Args:
        settings: of the group's coordinator by name, those that it has.
        failure: Kafka's error name where it does not tell them.
        serves_kip848: None if that is not known.
    """
    serves = serves_kip848 is not False
    if failure is not None:
        return BrokerRules(unknown=f"the coordinator's settings cannot be read ({failure})",
                           serves_kip848=serves)  # fmt: skip
    known = {name: settings[name] for name in ASKED_FOR if name in settings}
    protocols = known.pop(PROTOCOLS, None)
    try:
        config = CoordinatorConfig.from_properties(known)
    except ValueError as error:
        return BrokerRules(unknown=f"the coordinator's settings are not valid ({error})",
                           serves_kip848=serves)  # fmt: skip
    missing = None if POLICY in known else f"the coordinator has no setting `{POLICY}`"
    return BrokerRules(config, missing, serves, protocols)
