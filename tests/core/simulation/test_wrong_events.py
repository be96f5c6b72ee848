"""Events that cannot be: each is refused in its line, with what would be right."""

import pytest

from tests.support.simulation.sample_scenarios import BASE, ZONES, in_protocol, refused_event

SUBSCRIBE = "subscribe: {group: app, "
SARAMA = BASE.replace("count: 3,", "count: 3, client: sarama,")
SARAMA = SARAMA.replace("      max.poll.interval.ms: 60s\n", "")
FRANZ_GO = BASE.replace("count: 3,", "count: 3, client: franz-go,")
KAFKAJS = BASE.replace("count: 3,", "count: 3, client: kafkajs,")
ZOOKEEPER = in_protocol(BASE, "zookeeper")
CONSUMER = in_protocol(BASE, "consumer")
# Event, what is said; the scenario, if it is not the base.
WRONG: dict[str, tuple[str, ...]] = {
    # --- pauses; what holds for every event of an application
    "a pause of no topic": (
        *("pause: {group: app, topics: [order], for: 1m}", "there is no topic `order` yet"),
    ),
    "a pause of nobody": (
        "pause: {group: app, member: m-9, for: 1m}",
        "there is no member `m-9` at that time",
    ),
    "a pause of no list": ("pause: {group: app, topics: orders, for: 1m}", "list"),
    # --- subscriptions
    "to nothing": (SUBSCRIBE + "member: m-1}", "no subscription"),
    "to a topic that is not there": (SUBSCRIBE + "topics: [order]}", "no topic `order` yet"),
    "to no list of topics": (SUBSCRIBE + "topics: orders}", "list"),
    "to both": (SUBSCRIBE + "topics: [orders], pattern: 'o.*'}", "to topics or to a pattern"),
    "to a broken pattern": (SUBSCRIBE + "pattern: '(o'}", "pattern"),
    "to a pattern after topics": (SUBSCRIBE + "pattern: 'o.*'}", "must unsubscribe before"),
    "kafkajs subscribes": (
        *(SUBSCRIBE + "topics: [orders]}", "kafkajs cannot change the subscription", KAFKAJS),
    ),
    "sarama unsubscribes": ("unsubscribe: {group: app}", "sarama cannot unsubscribe", SARAMA),
    "franz-go unsubscribes": ("unsubscribe: {group: app}", "franz-go cannot unsub", FRANZ_GO),
    "ZooKeeper subscribes": (
        *(SUBSCRIBE + "topics: [orders]}", "cannot change what it reads", ZOOKEEPER),
    ),
    "ZooKeeper unsubscribes": (
        *("unsubscribe: {group: app}", "cannot change what it reads", ZOOKEEPER),
    ),
    # --- seeks
    "nowhere": ("seek: {group: app}", "`to`"),
    "somewhere": ("seek: {group: app, to: middle}", "`middle` is not a place in a log"),
    "before everything": ("seek: {group: app, to: -1}", "0"),
    "at no time": ("seek: {group: app, to: 'timestamp:soon'}", "`soon` is not a duration"),
    "in the future": ("seek: {group: app, to: 'timestamp:3m'}", "later than the event"),
    "no partition": ("seek: {group: app, to: end, partitions: [6]}", "there is no partition 6"),
    "sarama seeks": (
        *("seek: {group: app, to: end}", "a consumer of sarama that runs cannot seek", SARAMA),
    ),
    "ZooKeeper seeks": ("seek: {group: app, to: end}", "cannot seek", ZOOKEEPER),
    # --- deploys
    "a share of nothing": ("deploy: {group: app, maxSurge: half}", "`half` is not an amount"),
    "more than all": ("deploy: {group: app, maxUnavailable: 120%}", "expected at most 100%"),
    "another kind": (
        *("deploy: {group: app, kind: DaemonSet}", "expected one of `Deployment`, `StatefulSet`"),
    ),
    "a surge of a StatefulSet": (
        "deploy: {group: app, kind: StatefulSet, maxSurge: 2}",
        "a StatefulSet has no `maxSurge`",
    ),
    "no such entry": ("deploy: {group: app, entry: x}", "expected one of `m`"),
    "an unknown change": ("deploy: {group: app, change: {colour: red}}", "unknown key `colour`"),
    "a session of the new protocol": (
        "deploy: {group: app, change: {protocol: consumer, settings: {session.timeout.ms: 9s}}}",
        "`session.timeout.ms` cannot be set with protocol consumer",
    ),
    "a change to a topic that is not there": (
        *("deploy: {group: app, change: {topics: [order]}}", "there is no topic `order`"),
    ),
    "an assignor that is not there": (
        "deploy: {group: app, change: {settings: {partition.assignment.strategy: x}}}",
        "unknown assignor `x`",
    ),
    "a session out of bounds": (
        "deploy: {group: app, change: {settings: {session.timeout.ms: 5s}}}",
        "INVALID_SESSION_TIMEOUT",
    ),
    "a change to ZooKeeper": (
        *("deploy: {group: app, change: {protocol: zookeeper}}", "expected one of `classic`"),
    ),
    # --- faults
    "a zone of nobody": ("zone_outage: {rack: y, for: 1s}", "no member is in rack `y`", ZONES),
    "an eviction of nobody": (
        *("spot_eviction: {group: app, rack: y}", "no member is in rack `y`", ZONES),
    ),
    "a zone's broker": ("zone_outage: {rack: z, brokers: [7], for: 1s}", "at most 2", ZONES),
    "no delay": ("slow_broker: {broker: 0, for: 1s}", "missing key `by`"),
    "no error": ("request_error: {group: app, error: NOPE}", "expected one of"),
    "no request of groups": (
        "request_error: {group: app, error: FENCED_INSTANCE_ID, api: Fetch}",
        "expected one of `SyncGroup`",
    ),
    "a request that nobody sends": (
        "request_error: {group: app, error: UNKNOWN_MEMBER_ID}",
        "members of protocol consumer send no SyncGroup",
        CONSUMER,
    ),
    "half a cut": (
        "network_partition: {group: app, for: 1s, lost: half}",
        "expected one of `both`",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_with_its_line(name: str) -> None:
    """One sentence."""
    event, said, *text = WRONG[name]
    assert said in refused_event(event, *text)
