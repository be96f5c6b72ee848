"""Scenarios that cannot be: each is refused with file and line, and what would be right."""

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.scenario.variation import check_name, varied
from tests.support.simulation.sample_scenarios import checked, in_protocol, ran, refused, scenario

TEXT = """\
topics:
  orders: {partitions: 6, rate: 60}
groups:
  app:
    protocol: eager
    members:
      m: {count: 3, topics: [orders]}
    settings:
      session.timeout.ms: 10s
      max.poll.interval.ms: 60s
events:
  - {at: 60s, crash: {group: app, member: m-1}}
"""
EVENT = "- {at: 60s, crash: {group: app, member: m-1}}"
SETTING = "session.timeout.ms: 10s"
MEMBERS = "m: {count: 3, topics: [orders]}"
READS = "topics: [orders]"
TOPIC = "{partitions: 6, rate: 60}"
PROTOCOL = "protocol: eager"
CREATED = "{at: 60s, create_topic: {topic: b, partitions: 4}}"
STRATEGY = "partition.assignment.strategy"
# What is replaced -> by what -> what is said, in the line where it begins.
WRONG: dict[str, dict[str, str]] = {
    "topics:\n": {"brokers: 0\ntopics:\n": "at least 1"},
    TOPIC: {
        "{partitions: 6, rate: much}": "`much` is not a rate",
        "{partitions: 3, skew: [1, 2]}": "2 entries for 3 partitions",
        "{partitions: 3, skew: -1}": "at least 0",
        "{partitions: 2, skew: [0, 0]}": "a weight above 0",
        "{partitions: 3, backlog: [1]}": "1 entries for 3 partitions",
        "{partitions: 3, hours: [1, 2]}": "2 entries for 24 hours",
        "{partitions: 6, keys: 0}": "1",
        "{partitions: 6, keys: 100001}": "100000",
        "{partitions: 6, keys: many}": "number",
        "{partitions: 6, keys: {skew: 1}}": "either `count` or `named`",
        "{partitions: 6, keys: {count: 3, named: {a: 1}}}": "either `count` or `named`",
        "{partitions: 6, keys: {named: {a: 1}, skew: 2}}": "are about a `count`",
        "{partitions: 6, keys: {named: {a: 0}}}": "above 0",
        "{partitions: 6, keys: {count: 3, skew: -1}}": "at least 0",
        "{partitions: 6, keys: {count: 3, zipf: 1}}": "unknown key `zipf`",
        "{partitions: 6, keys: 3, skew: 1}": "either `skew` or `keys`",
    },
    PROTOCOL: {
        "protocol: lazy": "expected one of `classic`, `eager`, `cooperative`",
        "config: {session: 1s}": "unknown key",
        "config: {consumer.session.timeout.ms: x}": "`x` is not a duration",
        "config: {consumer.session.timeout.ms: 1s}": "not between 45000 and 60000",
        "autoscaler: {keda: {}}": "the scenario has no `until`",
        "autoscaler: {keda: {}, hpa: {}}": "one of `keda` and `hpa`",
        "autoscaler: {hpa: {maxReplicas: 3}}": "missing key `target`",
        "autoscaler: {keda: {minReplicaCount: 5, maxReplicaCount: 3}}": (
            "at least 5 pods and at most 3"
        ),
        "autoscaler: {keda: {allowIdleConsumers: true, limitToPartitionsWithLag: true}}": (
            "exclude each other"
        ),
        "autoscaler: {hpa: {metric: memory, target: 1, maxReplicas: 2}}": (
            "expected one of `lag`, `cpu`"
        ),
    },
    MEMBERS: {
        "m: {count: 3}": "no subscription",
        "m: {count: -3, topics: [orders]}": "at least 0",
        "m: {count: 3, pattern: '(o'}": "pattern",
        "{}": "there are no members",
    },
    READS: {
        "topics: []": "at least one topic",
        "topics: [order]": "no topic `order`",
        "topics: [orders], pattern: 'o.*'": "either to topics or to a pattern",
        "topics: [orders], processing: {heavy: 2ms, tail: 1}": "expected a number above 1",
        "topics: [orders], commit: {per: poll}": "`mode`",
        "topics: [orders], commit: maybe": "expected one of `sync`",
        "topics: [orders], commit: {mode: sync, per: record}": "expected one of `poll`",
        "topics: [orders], commit: {mode: sync, each: poll}": "unknown key `each`",
        "topics: [orders], commit: {mode: sync, every: often}": "`often` is not a duration",
        "topics: [orders], commit: {mode: none, per: partition}": "commits nothing",
        "topics: [orders], commit: {mode: sync, per: partition, every: 5s}": "`every`",
        "topics: [orders], polls_on: true, commit: outside": "polls on",
        "topics: [orders], polls_on: true, commit: {mode: sync, per: partition}": "polls on",
        "topics: [orders], polls_on: true, skip_older_than: 10s": "polls_on",
        "topics: [orders], listener: {asigned: 2s}": "unknown key `asigned`",
        "topics: [orders], listener: {fails: 1}": "is not a share",
        "topics: [orders], listener: much": "is not a duration",
        "topics: [orders], static: true, client: kafkajs": "kafkajs has no static members",
        "topics: [orders], pattern: t.*, client: aiokafka": "either to topics or to a pattern",
        "pattern: t.*, client: sarama": "sarama subscribes to no patterns",
        "assign: {order: all}": "there is no topic `order`",
        "assign: {orders: [6]}": "`orders` has no partition 6",
        "assign: {orders: [1, 1]}": "a partition is named twice",
        "assign: {orders: []}": "at least one partition",
        "assign: {}": "at least one topic",
        "assign: {orders: some}": "`all`",
        "assign: {orders: all}, topics: [orders]": "either subscribes or assigns itself",
        "assign: {orders: all}, listener: 2s": "no listener is called",
        "assign: {orders: all}, client: kafkajs": "cannot choose partitions",
    },
    SETTING: {
        f"{STRATEGY}: rangy": "unknown assignor `rangy`",
        f"{STRATEGY}: no.such:Thing": "No module",
        f"{STRATEGY}: []": "expected an assignor",
        f"{STRATEGY}: cooperative-sticky": "the group is eager, `cooperative-sticky` is",
        "group.remote.assignor: uniform": "cannot be set with protocol eager",
        "session.timeout.ms: 5s": "INVALID_SESSION_TIMEOUT",
        "heartbeat.interval.ms: 50s": "must be less than",
    },
    "max.poll.interval.ms: 60s": {
        "max.poll.interval.ms: 60 parsecs": "is not a duration",
        "max.poll.interval.ms: 0": "0",
    },
    EVENT: {
        "- {at: 1, crash: {group: x}}": "there is no group `x`",
        "- {at: 1, gc_pause: {group: app}}": "missing key `for`",
        "- crash: {group: app}": "expected either `at` (once) or `every`",
        "- {at: 1, every: 2, crash: {group: app}}": "expected either `at`",
        "- {at: 1}": "expected one event, found 0",
        "- {at: 1, broker_down: {broker: 9}}": "at most",
        "- {at: 1, crash: {group: app, member: m-9}}": "there is no member `m-9` at that time",
        "- {at: 1, crash: {group: app, member: m-4}}\n  - {at: 2, scale_out: {group: app}}": (
            "there is no member `m-4` at that time"
        ),
        "- {at: 1, rolling_restart: {group: app, members: [m-1, m-7]}}": "there is no member `m-7`",
        "- {at: 1, scale_in: {group: app, count: 50}}": "the group has 3 members, not 50",
        "- {at: 1, scale_out: {group: app, like: m-8}}": "there is no member `m-8`",
        "- {at: 1, add_partitions: {topic: orders, partitions: 4}}": "has 6 partitions already",
        "- {at: 1, add_partitions: {topic: order, partitions: 9}}": "there is no topic `order` yet",
        "- {at: 1, create_topic: {topic: orders, partitions: 4}}": "`orders` is created twice",
        "- {every: 1, create_topic: {topic: b, partitions: 4}}": "`b` is created twice",
    },
}
# The same in another protocol, and of an autoscaler that has an end.
CASES = [
    *((TEXT, right, cases) for right, cases in WRONG.items()),
    (
        TEXT.replace(PROTOCOL, "protocol: cooperative"),
        READS,
        {"topics: [orders], client: aiokafka": "no cooperative assignor"},
    ),
    (
        in_protocol(TEXT, "consumer"),
        READS,
        {"topics: [orders], client: sarama": "does not speak the consumer protocol"},
    ),
    (
        f"until: 1h\n{TEXT}",
        PROTOCOL,
        {"autoscaler: {keda: {entry: x}}": "there is no entry `x`"},
    ),
]


@pytest.mark.parametrize(
    ("text", "wrong", "said"),
    [
        pytest.param(text.replace(right, wrong), wrong.splitlines()[0], said, id=wrong)
        for text, right, cases in CASES
        for wrong, said in cases.items()
    ],
)
def test_what_cannot_be_is_refused_with_its_line(text: str, wrong: str, said: str) -> None:
    """One sentence, in the line where it is written."""
    line = next(n for n, one in enumerate(text.splitlines(), 1) if wrong in one)
    assert said in refused(text, line).message


@pytest.mark.parametrize(
    ("right", "wrong", "line", "said"),
    [
        (
            PROTOCOL,
            "protocol: consumer",
            9,
            "`session.timeout.ms` cannot be set with protocol cons",
        ),
        (
            MEMBERS,
            "m: {topics: [orders], client: librdkafka, settings: {session.timeout.ms: 2m}}",
            10,
            "`max.poll.interval.ms` (60000) must be at least `session.timeout.ms` (120000)",
        ),
        (
            MEMBERS,
            f"{MEMBERS}\n      n: {{topics: [orders], settings: {{{STRATEGY}: sticky}}}}",
            8,
            "no assignor in common",
        ),
        (EVENT, f"- {CREATED}\n  - {CREATED}", 13, "`b` is created twice"),
    ],
)
def test_what_another_line_is_to_blame_for(right: str, wrong: str, line: int, said: str) -> None:
    """It is that line that is told."""
    assert said in refused(TEXT.replace(right, wrong), line).message


def test_a_cooperative_group_has_cooperative_assignors() -> None:
    """Written as such."""
    text = TEXT.replace("protocol: eager", "protocol: cooperative")
    error = refused(text.replace(SETTING, f"{STRATEGY}: range"))
    assert error.message.endswith("the group is cooperative, `range` is not")


def test_what_a_broker_would_not_start_with_has_a_line_too() -> None:
    """Its own settings."""
    for wrong in ("group.consumer.session.timeout.ms: 44s", "offsets.topic.num.partitions: 0"):
        error = refused(f"cluster:\n  {wrong}\n" + TEXT)
        assert "`s.yaml`, line 2, `cluster" in error.message


@pytest.mark.parametrize(
    ("java", "ours"),
    [
        ("RangeAssignor", "range"),
        ("RoundRobinAssignor", "roundrobin"),
        ("StickyAssignor", "sticky"),
    ],
)
def test_assignors_by_their_class(java: str, ours: str) -> None:
    """As the property has them in Java."""
    text = TEXT.replace(SETTING, f"{STRATEGY}: org.apache.kafka.clients.consumer.{java}")
    assert checked(text).groups[0].members[0].settings.assignors == (ours,)


def test_a_group_grows_from_nobody() -> None:
    """What its members are like is in the file."""
    text = TEXT.replace("count: 3", "count: 0, static: true")
    text = text.replace(EVENT, "- {at: 60s, scale_out: {group: app, count: 2}}")
    (group,) = simulate(checked(text)).groups
    assert [(one.name, one.partitions) for one in group.members] == [("m-1", 3), ("m-2", 3)]
    named = text.replace("count: 2}", "count: 1, like: m}")
    assert [one.name for one in simulate(checked(named)).groups[0].members] == ["m-1"]


def test_partitions_of_a_topic_that_is_created_later() -> None:
    """In the order of their times, whatever that of the file."""
    text = TEXT.replace(
        EVENT,
        "- {at: 90s, add_partitions: {topic: b, partitions: 3}}\n"
        "  - {at: 60s, create_topic: {topic: b, partitions: 2}}",
    ).replace("topics: [orders]", "topics: [orders, b]")
    (group,) = simulate(checked(text)).groups
    assert len(group.partitions) == 9


def test_members_that_join_during_the_run_may_be_named() -> None:
    """From then on, or whenever members join at random."""
    for when, number in (("at", "4"), ("every", "9")):
        joins = f"- {{{when}: 5s, scale_out: {{group: app}}}}\n  "
        checked(TEXT.replace(EVENT, joins + EVENT.replace("1", number)))


def test_another_client_has_its_own_defaults() -> None:
    """What was set otherwise stays."""
    one = varied(scenario(TEXT), {"client": "librdkafka"}).groups[0].members[0].settings
    assert (one.request_timeout_ms, one.max_poll_records) == (60_000, 1)
    assert (one.session_timeout_ms, one.max_poll_interval_ms) == (10_000, 60_000)


def test_varied_assignors_make_a_group_cooperative() -> None:
    """A group is what its members' assignors are."""
    one = varied(scenario(TEXT), {STRATEGY: "cooperative-sticky"})
    assert one.groups[0].protocol == "cooperative"
    assert varied(one, {STRATEGY: "range"}).groups[0].protocol == "eager"


def test_commits_at_every_poll_end() -> None:
    """An interval of nothing is that of the clock."""
    text = TEXT.replace(SETTING, "auto.commit.interval.ms: 0")
    assert simulate(scenario(text, until="2s", events=[])).end_ms == 2_000


def test_accepted_keys_are_told_once() -> None:
    """Required ones among them."""
    for wrong in (TEXT.replace("groups:", "group:"), TEXT.replace("partitions: 6", "partition: 6")):
        error = refused(wrong)
        assert error.hint is not None
        accepted = error.hint.split("accepted keys: ")[1].split(", ")
        assert len(accepted) == len(set(accepted))


@pytest.mark.parametrize("client", ["java", "librdkafka"])
def test_a_pattern_that_matches_nothing_yet(client: str) -> None:
    """A member joins with nothing to read, and reads what comes."""
    event = {"at": "1m", "create_topic": {"topic": "events", "partitions": 3}}
    text = TEXT.replace("topics: [orders]", f"pattern: '^events', client: {client}")
    group = ran(text, events=[event])
    assert [one.partitions for one in group.members] == [1, 1, 1]


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
@pytest.mark.parametrize("client", ["java", "librdkafka"])
def test_a_new_topic_costs_a_group_with_a_pattern_one_generation(
    client: str, protocol: str
) -> None:
    """Every member asks for fresh metadata before it joins again."""
    text = TEXT.replace(
        "count: 3, topics: [orders]", f"count: 5, pattern: '^o.*', client: {client}"
    )
    text = text.replace("protocol: eager", f"protocol: {protocol}")
    event = {"at": "1m", "create_topic": {"topic": "offers", "partitions": 10}}
    for seed in range(5):
        group = ran(text, events=[event], seed=seed)
        assert group.epoch == 2
        assert group.rebalances[-1].at_ms > 60_000


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("zookeeper.connect", "write `protocol: zookeeper` of the group"),
        ("consumer.id", "a member's name in `members` stands for it"),
        ("wakeup", "`wakeup()` only ends a poll"),
        ("Consumer.Group.Session.Timeout", "sarama calls it so: write `session.timeout.ms`"),
        ("sessionTimeout", "kafkajs calls it so: write `session.timeout.ms`"),
        ("session_timeout_ms", "kafka-python calls it so: write `session.timeout.ms`"),
    ],
)
def test_what_is_no_setting_is_known_all_the_same(name: str, hint: str) -> None:
    """What to write is said: in settings, and where values are varied."""
    assert hint in (refused(TEXT.replace(SETTING, f"{name}: 1")).hint or "")
    with pytest.raises(UsageError) as caught:
        check_name(name)
    assert hint in (caught.value.hint or "")


def test_to_wake_up_is_no_event() -> None:
    """A poll that ends earlier changes nothing in a group."""
    error = refused(TEXT.replace("crash:", "wakeup:"))
    assert error.message.endswith("unknown event `wakeup`")
    assert "`scale_in`" in (error.hint or "")
