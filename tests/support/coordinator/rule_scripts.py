"""For each rule in which releases differ, operations of which the last one is answered by it."""

from collections.abc import Mapping

from kgroups.core.coordinator.releases import Rule
from tests.support.coordinator.operations import SENDER, config, heartbeat, join, topics
from tests.support.coordinator.oracle_json import Json

T = ["t"]


def _advance(ms: int) -> Json:
    return {"op": "advance", "ms": ms}


def _nameless() -> Json:
    """A heartbeat that leaves the member id to the coordinator."""
    asked = heartbeat("", 0, subscribedTopicNames=T)
    return {**asked, "version": 0, **SENDER}


RULE_SCRIPTS: Mapping[Rule, tuple[Json, ...]] = {
    Rule.DISABLED_MIGRATION_REFUSES: (
        config(group_consumer_migration_policy="disabled"),
        topics(t=1),
        heartbeat("m1", 0, subscribedTopicNames=T),
        join(instance_id="i1"),
    ),
    Rule.TARGET_OF_THE_EMPTY: (
        config(),
        topics(t=1),
        heartbeat("m1", 0, subscribedTopicNames=T),
        heartbeat("m1", -1),
    ),
    Rule.ASSIGNOR_CHANGE_BUMPS: (
        config(),
        topics(t=1),
        heartbeat("m1", 0, subscribedTopicNames=T),
        heartbeat("m1", 2, serverAssignor="range"),
    ),
    Rule.FULL_GROUP_TAKES_BACK: (
        config(group_consumer_max_size="1"),
        topics(t=1),
        heartbeat("m1", 0, instanceId="i1", subscribedTopicNames=T),
        heartbeat("m1", -2, instanceId="i1"),
        heartbeat("m2", 0, instanceId="i1", subscribedTopicNames=T),
    ),
    Rule.INSTANCE_IDS_ARE_FREED: (
        config(),
        topics(t=1),
        heartbeat("m1", 0, instanceId="i1", subscribedTopicNames=T),
        heartbeat("m1", 0, instanceId="i2", subscribedTopicNames=T),
        heartbeat("m2", 0, instanceId="i1", subscribedTopicNames=T),
    ),
    Rule.TAKEN_OVER_TARGET_COUNTS: (
        config(),
        topics(t=1),
        heartbeat("m1", 0, instanceId="i1", subscribedTopicNames=["none"]),
        heartbeat("m1", -2, instanceId="i1"),
        heartbeat("m2", 0, subscribedTopicNames=T),
        _advance(1_500),
        heartbeat("m3", 0, instanceId="i1", subscribedTopicNames=["none"]),
    ),
    Rule.UNREADABLE_SUBSCRIPTION_IS_INCONSISTENT: (
        config(),
        topics(t=1),
        heartbeat("m1", 0, subscribedTopicNames=T),
        join("AA==", instance_id="i1"),
    ),
    # The first id that the oracle draws holds a `-`.
    Rule.PLAIN_IDS: (config(), topics(t=1), _nameless()),
}
