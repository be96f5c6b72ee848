"""Events that cannot be: each is refused in its line, with what would be right."""

import pytest

from tests.support.simulation.sample_scenarios import BASE, ZONES, in_protocol, refused_event

SARAMA = BASE.replace("count: 3,", "count: 3, client: sarama,")
SARAMA = SARAMA.replace("      max.poll.interval.ms: 60s\n", "")
FRANZ_GO = BASE.replace("count: 3,", "count: 3, client: franz-go,")
KAFKAJS = BASE.replace("count: 3,", "count: 3, client: kafkajs,")
ZOOKEEPER = in_protocol(BASE, "zookeeper")
CONSUMER = in_protocol(BASE, "consumer")
# Scenario -> event in it -> what is said.
WRONG: dict[str, dict[str, str]] = {
    BASE: {
        "pause: {group: app, topics: [order], for: 1m}": "there is no topic `order` yet",
        "pause: {group: app, member: m-9, for: 1m}": "there is no member `m-9` at that time",
        "pause: {group: app, topics: orders, for: 1m}": "list",
        "subscribe: {group: app, member: m-1}": "no subscription",
        "subscribe: {group: app, topics: [order]}": "no topic `order` yet",
        "subscribe: {group: app, topics: orders}": "list",
        "subscribe: {group: app, topics: [orders], pattern: 'o.*'}": "to topics or to a pattern",
        "subscribe: {group: app, pattern: '(o'}": "pattern",
        "subscribe: {group: app, pattern: 'o.*'}": "must unsubscribe before",
        "seek: {group: app}": "`to`",
        "seek: {group: app, to: middle}": "`middle` is not a place in a log",
        "seek: {group: app, to: -1}": "0",
        "seek: {group: app, to: 'timestamp:soon'}": "`soon` is not a duration",
        "seek: {group: app, to: 'timestamp:3m'}": "later than the event",
        "seek: {group: app, to: end, partitions: [6]}": "there is no partition 6",
        "deploy: {group: app, maxSurge: half}": "`half` is not an amount",
        "deploy: {group: app, maxUnavailable: 120%}": "expected at most 100%",
        "deploy: {group: app, kind: DaemonSet}": "expected one of `Deployment`, `StatefulSet`",
        "deploy: {group: app, kind: StatefulSet, maxSurge: 2}": "a StatefulSet has no `maxSurge`",
        "deploy: {group: app, entry: x}": "expected one of `m`",
        "deploy: {group: app, change: {colour: red}}": "unknown key `colour`",
        "deploy: {group: app, change: {protocol: consumer, settings: {session.timeout.ms: 9s}}}": (
            "`session.timeout.ms` cannot be set with protocol consumer"
        ),
        "deploy: {group: app, change: {topics: [order]}}": "there is no topic `order`",
        "deploy: {group: app, change: {settings: {partition.assignment.strategy: x}}}": (
            "unknown assignor `x`"
        ),
        "deploy: {group: app, change: {settings: {session.timeout.ms: 5s}}}": (
            "INVALID_SESSION_TIMEOUT"
        ),
        "deploy: {group: app, change: {protocol: zookeeper}}": "expected one of `classic`",
        "slow_broker: {broker: 0, for: 1s}": "missing key `by`",
        "request_error: {group: app, error: NOPE}": "expected one of",
        "request_error: {group: app, error: FENCED_INSTANCE_ID, api: Fetch}": (
            "expected one of `SyncGroup`"
        ),
        "network_partition: {group: app, for: 1s, lost: half}": "expected one of `both`",
    },
    KAFKAJS: {
        "subscribe: {group: app, topics: [orders]}": "kafkajs cannot change the subscription",
    },
    SARAMA: {
        "unsubscribe: {group: app}": "sarama cannot unsubscribe",
        "seek: {group: app, to: end}": "a consumer of sarama that runs cannot seek",
    },
    FRANZ_GO: {
        "unsubscribe: {group: app}": "franz-go cannot unsub",
    },
    ZOOKEEPER: {
        "subscribe: {group: app, topics: [orders]}": "cannot change what it reads",
        "unsubscribe: {group: app}": "cannot change what it reads",
        "seek: {group: app, to: end}": "cannot seek",
    },
    ZONES: {
        "zone_outage: {rack: y, for: 1s}": "no member is in rack `y`",
        "spot_eviction: {group: app, rack: y}": "no member is in rack `y`",
        "zone_outage: {rack: z, brokers: [7], for: 1s}": "at most 2",
    },
    CONSUMER: {
        "request_error: {group: app, error: UNKNOWN_MEMBER_ID}": (
            "members of protocol consumer send no SyncGroup"
        ),
    },
}


@pytest.mark.parametrize(
    ("text", "event"),
    [pytest.param(text, event, id=event) for text, events in WRONG.items() for event in events],
)
def test_what_cannot_be_is_refused_with_its_line(text: str, event: str) -> None:
    """One sentence."""
    assert WRONG[text][event] in refused_event(event, text)
