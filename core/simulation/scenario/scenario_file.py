"""A simulation's scenario in YAML or JSON, checked: complaints name file, line, what is accepted.

The format is described in `cli/schemas/simulation.json`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from kgroups.core.coordinator.config import GROUP_CONFIG, PROPERTIES, CoordinatorConfig
from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor, Document, Readers, choice_of, integer_of
from kgroups.core.input_files.scenario_kinds import check_command
from kgroups.core.simulation.kubernetes.kubernetes_file import read_autoscaler
from kgroups.core.simulation.scenario.event_file import (
    MAX_MEMBERS,
    MAX_PARTITIONS,
    read_events,
)
from kgroups.core.simulation.scenario.key_load import KeyLoad
from kgroups.core.simulation.scenario.member_file import protocol_of, read_members
from kgroups.core.simulation.scenario.member_readers import read_share, read_spread
from kgroups.core.simulation.scenario.scenario_model import (
    GroupPlan,
    MemberPlan,
    Network,
    Scenario,
    TopicPlan,
)
from kgroups.core.simulation.scenario.units import read_ms, read_positive_ms, read_rate

SCHEMA: Final = "kgroups.simulation/1"

AUTO_CREATE: Final = "auto.create.topics.enable"
AUTO_PARTITIONS: Final = "num.partitions"
MAX_BROKERS: Final = 1_000
NETWORK_KEYS: Final[Readers] = {"latency": ("latency", read_spread), "loss": ("loss", read_share)}


def parse_simulation(document: Document) -> Scenario:
    """The scenario in a parsed file.

    Raises:
        UsageError: something in it is wrong; names file, line and what is accepted.
    """
    check_command(document, "simulate")
    root = document.root.fields(("topics", "groups"), ("schema", *PLAIN_KEYS, "events"))
    root.optional("schema", lambda c: c.text((SCHEMA,)))
    topics = {name: _topic(name, cursor) for name, cursor in root["topics"].entries()}
    groups = {name: _group(name, cursor, topics) for name, cursor in root["groups"].entries()}
    if not groups:
        root["groups"].fail("there are no groups")
    scenario = Scenario(
        topics=tuple(topics.values()),
        groups=tuple(groups.values()),
        auto_partitions=root.optional("cluster", _auto_partitions) or 0,
        **root.given(PLAIN_KEYS),
    )
    events = root.optional("events", lambda c: read_events(c, scenario)) or ()
    return replace(scenario, events=events)


# ---------------------------------------------------------------------- cluster and topics


def _auto_partitions(cursor: Cursor) -> int:
    """Partitions of a topic that is created because a consumer asks for it; 0: none is."""
    fields = cursor.fields((), (*PROPERTIES, AUTO_CREATE, AUTO_PARTITIONS))
    wanted = fields.optional(AUTO_CREATE, Cursor.flag)
    count = fields.optional(AUTO_PARTITIONS, integer_of(1, MAX_PARTITIONS))
    return (count or 1) if wanted else 0


def _cluster(cursor: Cursor) -> CoordinatorConfig:
    fields = cursor.fields((), (*PROPERTIES, AUTO_CREATE, AUTO_PARTITIONS))
    texts: dict[str, str] = {}
    for name in fields.values:
        if name in (AUTO_CREATE, AUTO_PARTITIONS):
            continue
        value = fields[name].plain
        if name.endswith(".ms"):
            texts[name] = str(read_ms(fields[name]))
        elif isinstance(value, int) and not isinstance(value, bool):
            least = 1 if name == "offsets.topic.num.partitions" else None
            texts[name] = str(fields[name].integer(least))
        else:
            texts[name] = fields[name].text()
    try:
        return CoordinatorConfig.from_properties(texts)
    except UsageError as error:
        cursor.fail(f"invalid property: {error.message}")


def _network(cursor: Cursor) -> Network:
    return Network(**cursor.fields((), NETWORK_KEYS).given(NETWORK_KEYS))


def _topic(name: str, cursor: Cursor) -> TopicPlan:
    """A topic: its number of partitions, or a mapping that has more."""
    if not isinstance(cursor.value, dict):
        return TopicPlan(name, cursor.integer(0, MAX_PARTITIONS))
    fields = cursor.fields(("partitions",), _topic_readers(0))
    partitions = fields["partitions"].integer(0, MAX_PARTITIONS)
    given = fields.given(_topic_readers(partitions))
    racks = given.get("racks")
    if racks and len(racks) != partitions:
        fields["racks"].fail(f"{len(racks)} entries for {partitions} partitions")
    if "keys" in given and "skew" in fields.values:
        fields["keys"].fail("either `skew` or `keys` says where records go", hint="leave out one")
    backlogs = given.pop("backlog", (0,))
    return TopicPlan(
        name,
        backlog=sum(backlogs),
        backlogs=backlogs if len(backlogs) > 1 else (),
        **given,
    )


def _topic_readers(partitions: int) -> Readers:
    """The keys of a topic that has so many partitions."""
    return {
        "partitions": ("partitions", Cursor.integer),
        "rate": ("rate", read_rate),
        "skew": ("weights", lambda c: read_weights(c, partitions)),
        "keys": ("keys", read_keys),
        "hours": ("hours", read_hours),
        "backlog": ("backlog", lambda c: read_backlog(c, partitions)),
        "racks": ("racks", _racks),
        "record_size": ("record_bytes", integer_of(1)),
        "transactions": ("transaction_ms", read_ms),
    }


def _racks(cursor: Cursor) -> tuple[frozenset[str], ...]:
    """The racks of each partition's replicas."""
    return tuple(frozenset(rack.text() for rack in racks.items()) for racks in cursor.items())


# ---------------------------------------------------------------------- groups


def _group(name: str, cursor: Cursor, topics: Mapping[str, TopicPlan]) -> GroupPlan:
    fields = cursor.fields(("members",), GROUP_KEYS)
    protocol = protocol_of(fields)
    members: list[MemberPlan] = []
    templates: list[MemberPlan] = []
    for label, entry in fields["members"].entries():
        template, some = read_members(label, entry, fields, name, protocol)
        members += some
        templates.append(template)
        if len(members) > MAX_MEMBERS:
            entry.fail(f"more than {MAX_MEMBERS} members")
    if not templates:
        fields["members"].fail("there are no members")
    _check_unique(fields["members"], members)
    given = fields.given(GROUP_READERS)
    given["committed"] = _commits(given.get("committed", "start"), topics)
    return GroupPlan(name, protocol, tuple(members), templates=tuple(templates), **given)


def _commits(where: str, topics: Mapping[str, TopicPlan]) -> dict[str, dict[int, int]]:
    """Commits of a group at the start: where the backlog begins, where it ends, or none."""
    if where == "none":
        return {}
    return {
        name: {n: 0 if where == "start" else topic.backlog_of(n) for n in range(topic.partitions)}
        for name, topic in topics.items()
    }


def _check_unique(cursor: Cursor, members: Iterable[MemberPlan]) -> None:
    instances: dict[str, str] = {}
    names: set[str] = set()
    for member in members:
        if member.name in names:
            cursor.fail(f"two members are called `{member.name}`")
        names.add(member.name)
        if member.instance_id is not None:
            other = instances.setdefault(member.instance_id, member.name)
            if other != member.name:
                cursor.fail(f"`{other}` and `{member.name}` have the same `instance_id`")


def _config(cursor: Cursor) -> dict[str, str]:
    """A group's dynamic settings, which its coordinator obeys."""
    fields = cursor.fields((), GROUP_CONFIG)
    return {name: str(read_positive_ms(fields[name])) for name in fields.values}


GROUP_READERS: Final[Readers] = {
    "config": ("config", _config),
    "committed": ("committed", choice_of(("start", "end", "none"))),
    "autoscaler": ("autoscaler", read_autoscaler),
    "long_running": ("long_running", Cursor.flag),
}
GROUP_KEYS: Final = ("protocol", "members", "properties", "settings", "commit", *GROUP_READERS)
PLAIN_KEYS: Final[Readers] = {
    "name": ("name", Cursor.text),
    "seed": ("seed", integer_of(0)),
    "until": ("until_ms", read_positive_ms),
    "brokers": ("brokers", integer_of(1, MAX_BROKERS)),
    "cluster": ("cluster", _cluster),
    "network": ("network", _network),
}


HOURS: Final = 24
MAX_WEIGHT: Final = 1e9
MAX_EXPONENT: Final = 50.0
# Each is hashed.
MAX_KEYS: Final = 100_000


def read_backlog(cursor: Cursor, partitions: int) -> tuple[int, ...]:
    """Records over all partitions, or a list with those of each."""
    if not isinstance(cursor.value, list):
        return (cursor.integer(0),)
    lags = tuple(item.integer(0) for item in cursor.items())
    _check_length(cursor, len(lags), partitions)
    return lags


def read_weights(cursor: Cursor, partitions: int) -> tuple[float, ...]:
    """Weights of the partitions, or the exponent of a Zipf distribution over them.

    With the exponent s the n-th partition gets 1/n^s of what the first one gets.
    """
    if not isinstance(cursor.value, list):
        exponent = min(_weight(cursor), MAX_EXPONENT)
        return tuple((n + 1) ** -exponent for n in range(partitions))
    weights = tuple(_weight(item) for item in cursor.items())
    _check_length(cursor, len(weights), partitions)
    if not sum(weights):
        cursor.fail("expected a weight above 0")
    return weights


def read_keys(cursor: Cursor) -> KeyLoad:
    """How many keys there are, or a mapping that says more."""
    if not isinstance(cursor.value, dict):
        return KeyLoad(cursor.integer(1, MAX_KEYS))
    fields = cursor.fields((), ("count", "skew", "prefix", "named"))
    if ("count" in fields.values) == ("named" in fields.values):
        cursor.fail("expected either `count` or `named`")
    if "named" in fields.values:
        if len(fields.values) > 1:
            cursor.fail("`skew` and `prefix` are about a `count` of keys")
        named = tuple((key, _weight(value)) for key, value in fields["named"].entries())
        if not sum(weight for _, weight in named):
            fields["named"].fail("expected a key with a weight above 0")
        return KeyLoad(named=named)
    readers: Readers = {
        "skew": ("exponent", lambda value: min(_weight(value), MAX_EXPONENT)),
        "prefix": ("prefix", Cursor.text),
    }
    return KeyLoad(fields["count"].integer(1, MAX_KEYS), **fields.given(readers))


def read_hours(cursor: Cursor) -> tuple[float, ...]:
    """Factors of the rate, one for each hour of the day."""
    shares = tuple(_weight(item) for item in cursor.items())
    if len(shares) != HOURS:
        cursor.fail(f"{len(shares)} entries for {HOURS} hours")
    return shares


def _check_length(cursor: Cursor, length: int, partitions: int) -> None:
    if length != partitions:
        cursor.fail(f"{length} entries for {partitions} partitions")


def _weight(cursor: Cursor) -> float:
    number = cursor.number
    if number is None or not 0 <= number <= MAX_WEIGHT:
        cursor.fail(f"expected a number of at least 0, found `{cursor.plain}`")
    return float(number)
