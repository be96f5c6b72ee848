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
LIBRDKAFKA = ", client: librdkafka}"


STRATEGY = "partition.assignment.strategy"
# What is replaced by what; the line; what is said.
WRONG = {
    "no duration": ("interval.ms: 60s", "interval.ms: 60 parsecs", 10, "is not a duration"),
    "no rate": ("rate: 60", "rate: much", 2, "`much` is not a rate"),
    "no protocol": ("eager", "lazy", 5, "expected one of `classic`, `eager`, `cooperative`"),
    "no brokers": ("topics:\n", "brokers: 0\ntopics:\n", 1, "at least 1"),
    "no subscription": (MEMBERS, "m: {count: 3}", 7, "no subscription"),
    "less than nobody": (MEMBERS, "m: {count: -3, topics: [orders]}", 7, "at least 0"),
    "a tail without a mean": (
        *(MEMBERS, "m: {topics: [orders], processing: {heavy: 2ms, tail: 1}}", 7),
        "expected a number above 1",
    ),
    "no such group": (EVENT, "- {at: 1, crash: {group: x}}", 12, "there is no group `x`"),
    "no end of a pause": (EVENT, "- {at: 1, gc_pause: {group: app}}", 12, "missing key `for`"),
    "no time": (EVENT, "- crash: {group: app}", 12, "expected either `at` (once) or `every`"),
    "two times": (EVENT, "- {at: 1, every: 2, crash: {group: app}}", 12, "expected either `at`"),
    "no event": (EVENT, "- {at: 1}", 12, "expected one event, found 0"),
    "no such broker": (EVENT, "- {at: 1, broker_down: {broker: 9}}", 12, "at most"),
    "an unknown assignor": (SETTING, f"{STRATEGY}: rangy", 9, "unknown assignor `rangy`"),
    "an assignor that does not import": (SETTING, f"{STRATEGY}: no.such:Thing", 9, "No module"),
    "no assignor": (SETTING, f"{STRATEGY}: []", 9, "expected an assignor"),
    "a cooperative assignor of an eager group": (
        *(SETTING, f"{STRATEGY}: cooperative-sticky", 9),
        "the group is eager, `cooperative-sticky` is cooperative",
    ),
    "a session of a consumer group": (
        *("protocol: eager", "protocol: consumer", 9),
        "`session.timeout.ms` cannot be set with protocol consumer",
    ),
    "a remote assignor of a classic group": (
        *(SETTING, "group.remote.assignor: uniform", 9),
        "`group.remote.assignor` cannot be set with protocol eager",
    ),
    "a short session": (SETTING, "session.timeout.ms: 5s", 9, "INVALID_SESSION_TIMEOUT"),
    "a long heartbeat": (SETTING, "heartbeat.interval.ms: 50s", 9, "must be less than"),
    "no time between polls": ("max.poll.interval.ms: 60s", "max.poll.interval.ms: 0", 10, "0"),
    "librdkafka with a long session": (
        MEMBERS,
        "m: {count: 3, topics: [orders], client: librdkafka, settings: {session.timeout.ms: 2m}}",
        10,
        "`max.poll.interval.ms` (60000) must be at least `session.timeout.ms` (120000)",
    ),
    "topics and a pattern": (
        MEMBERS,
        "m: {count: 3, topics: [orders], pattern: 'o.*'}",
        7,
        "either to topics or to a pattern",
    ),
    "a broken pattern": (MEMBERS, "m: {count: 3, pattern: '(o'}", 7, "pattern"),
    "no members": (MEMBERS, "{}", 7, "there are no members"),
    "no topics": (MEMBERS, "m: {count: 3, topics: []}", 7, "at least one topic"),
    "a group's unknown setting": ("protocol: eager", "config: {session: 1s}", 5, "unknown key"),
    "a group's wrong setting": (
        *("protocol: eager", "config: {consumer.session.timeout.ms: x}", 5),
        "`x` is not a duration",
    ),
    "a group's setting out of bounds": (
        *("protocol: eager", "config: {consumer.session.timeout.ms: 1s}", 5),
        "not between 45000 and 60000",
    ),
    "a misspelt topic": (MEMBERS, "m: {count: 3, topics: [order]}", 7, "no topic `order`"),
    "no common assignor": (
        MEMBERS,
        f"m: {{count: 3, topics: [orders]}}\n      n: {{topics: [orders], settings: "
        f"{{{STRATEGY}: sticky}}}}",
        8,
        "no assignor in common",
    ),
    "a member that does not exist": (
        EVENT,
        "- {at: 60s, crash: {group: app, member: m-9}}",
        12,
        "there is no member `m-9` at that time",
    ),
    "a member that comes later": (
        EVENT,
        "- {at: 60s, crash: {group: app, member: m-4}}\n  - {at: 70s, scale_out: {group: app}}",
        12,
        "there is no member `m-4` at that time",
    ),
    "members that do not exist": (
        EVENT,
        "- {at: 60s, rolling_restart: {group: app, members: [m-1, m-7]}}",
        12,
        "there is no member `m-7`",
    ),
    "fifty of three": (
        EVENT,
        "- {at: 60s, scale_in: {group: app, count: 50}}",
        12,
        "the group has 3 members, not 50",
    ),
    "like nobody": (
        EVENT,
        "- {at: 60s, scale_out: {group: app, like: m-8}}",
        12,
        "there is no member `m-8`",
    ),
    "fewer partitions": (
        EVENT,
        "- {at: 60s, add_partitions: {topic: orders, partitions: 4}}",
        12,
        "`orders` has 6 partitions already",
    ),
    "partitions of no topic": (
        EVENT,
        "- {at: 60s, add_partitions: {topic: order, partitions: 9}}",
        12,
        "there is no topic `order` yet",
    ),
    "a topic twice": (
        EVENT,
        "- {at: 60s, create_topic: {topic: orders, partitions: 4}}",
        12,
        "`orders` is created twice",
    ),
    "a new topic twice": (
        EVENT,
        "- {at: 60s, create_topic: {topic: b, partitions: 4}}\n"
        "  - {at: 90s, create_topic: {topic: b, partitions: 4}}",
        13,
        "`b` is created twice",
    ),
    "a new topic again and again": (
        EVENT,
        "- {every: 60s, create_topic: {topic: b, partitions: 4}}",
        12,
        "`b` is created twice",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_with_its_line(name: str) -> None:
    """One sentence, in the line that is to blame."""
    old, new, line, said = WRONG[name]
    assert old in TEXT
    assert said in refused(TEXT.replace(old, new), line).message


MEMBER = "topics: [orders]"
TOPIC = "{partitions: 6, rate: 60}"
SCALED = f"until: 1h\n{TEXT}"
# What can be wrong in a part of a scenario: the scenario, what is replaced, by what, what is said.
PARTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "ways to commit": (
        TEXT,
        MEMBER,
        {
            f"{MEMBER}, commit: {{per: poll}}": "`mode`",
            f"{MEMBER}, commit: maybe": "expected one of `sync`",
            f"{MEMBER}, commit: {{mode: sync, per: record}}": "expected one of `poll`",
            f"{MEMBER}, commit: {{mode: sync, each: poll}}": "unknown key `each`",
            f"{MEMBER}, commit: {{mode: sync, every: often}}": "`often` is not a duration",
            f"{MEMBER}, commit: {{mode: none, per: partition}}": "commits nothing",
            f"{MEMBER}, commit: {{mode: sync, per: partition, every: 5s}}": "`every`",
            f"{MEMBER}, polls_on: true, commit: outside": "polls on",
            f"{MEMBER}, polls_on: true, commit: {{mode: sync, per: partition}}": "polls on",
            f"{MEMBER}, polls_on: true, skip_older_than: 10s": "polls_on",
        },
    ),
    "partitions chosen by hand": (
        TEXT,
        MEMBER,
        {
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
    ),
    "listeners": (
        TEXT,
        MEMBER,
        {
            f"{MEMBER}, listener: {{asigned: 2s}}": "unknown key `asigned`",
            f"{MEMBER}, listener: {{fails: 1}}": "is not a share",
            f"{MEMBER}, listener: much": "is not a duration",
        },
    ),
    "what a library cannot do": (
        TEXT,
        MEMBER,
        {
            f"{MEMBER}, static: true, client: kafkajs": "kafkajs has no static members",
            "pattern: t.*, client: sarama": "sarama subscribes to no patterns",
            f"{MEMBER}, pattern: t.*, client: aiokafka": "either to topics or to a pattern",
        },
    ),
    "libraries of a cooperative group": (
        TEXT.replace("protocol: eager", "protocol: cooperative"),
        MEMBER,
        {f"{MEMBER}, client: aiokafka": "no cooperative assignor"},
    ),
    "libraries of a consumer group": (
        in_protocol(TEXT, "consumer"),
        MEMBER,
        {f"{MEMBER}, client: sarama": "does not speak the consumer protocol"},
    ),
    "keys": (
        TEXT,
        TOPIC,
        {
            f"{{partitions: 6, rate: 60, keys: {keys}}}": said
            for keys, said in {
                "0": "1",
                "100001": "100000",
                "many": "number",
                "{skew: 1}": "either `count` or `named`",
                "{count: 3, named: {a: 1}}": "either `count` or `named`",
                "{named: {a: 1}, skew: 2}": "are about a `count`",
                "{named: {a: 0}}": "above 0",
                "{count: 3, skew: -1}": "at least 0",
                "{count: 3, zipf: 1}": "unknown key `zipf`",
                "3, skew: 1": "either `skew` or `keys`",
            }.items()
        },
    ),
    "loads": (
        TEXT,
        TOPIC,
        {
            "{partitions: 3, skew: [1, 2]}": "2 entries for 3 partitions",
            "{partitions: 3, skew: -1}": "at least 0",
            "{partitions: 2, skew: [0, 0]}": "a weight above 0",
            "{partitions: 3, backlog: [1]}": "1 entries for 3 partitions",
            "{partitions: 3, hours: [1, 2]}": "2 entries for 24 hours",
        },
    ),
    "autoscalers": (
        SCALED,
        "protocol: eager",
        {
            f"autoscaler: {autoscaler}": said
            for autoscaler, said in {
                "{keda: {}, hpa: {}}": "one of `keda` and `hpa`",
                "{hpa: {maxReplicas: 3}}": "missing key `target`",
                "{keda: {minReplicaCount: 5, maxReplicaCount: 3}}": "at least 5 pods and at most 3",
                "{keda: {allowIdleConsumers: true, limitToPartitionsWithLag: true}}": "exclude",
                "{keda: {entry: x}}": "there is no entry `x`",
                "{hpa: {metric: memory, target: 1, maxReplicas: 2}}": "expected one of `lag`, `c",
            }.items()
        },
    ),
    "an autoscaler without an end": (
        TEXT,
        "protocol: eager",
        {"autoscaler: {keda: {}}": "the scenario has no `until`"},
    ),
}


@pytest.mark.parametrize(
    ("part", "wrong"), [(part, wrong) for part, (*_, cases) in PARTS.items() for wrong in cases]
)
def test_a_part_that_cannot_be_is_refused_with_its_line(part: str, wrong: str) -> None:
    """In the line where it is written."""
    text, right, cases = PARTS[part]
    assert text.count(right) == 1
    text = text.replace(right, wrong)
    line = next(n for n, one in enumerate(text.splitlines(), 1) if wrong in one)
    assert cases[wrong] in refused(text, line).message


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
