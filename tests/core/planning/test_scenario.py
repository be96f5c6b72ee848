"""Scenario files: what they mean, and what is said of a wrong one."""

import json
from importlib.resources import files

import pytest
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document
from kgroups.core.planning.changes.kinds import AddMembers, RemoveMembers
from kgroups.core.planning.plan import plan_group
from kgroups.core.planning.scenario import Scenario, is_scenario, parse_scenario
from kgroups.core.simulation.scenario.scenario_file import parse_simulation

GOOD = """\
schema: kgroups.scenario/1
topics:
  orders: 6
  payments: {partitions: 2, lag: [5, 7], racks: [[r1, r2], [r2]]}
groups:
  app:
    assignor: sticky
    client: librdkafka
    members:
      app-1: {topics: [orders], owned: {orders: [0, 1, 2]}}
      app-2:
        pattern: "librdkafka:^(orders|pay)"
        client_id: web
        instance_id: i2
        host: h
        rack: r1
        owned: {orders: [3, 4, 5], payments: [0, 1]}
    changes:
      - add_members: 2:web
      - remove_member: 1
  kip:
    protocol: consumer
    members:
      m: {pattern: "pay.*"}
"""


def read(text: str) -> Scenario:
    """The scenario in a text."""
    return parse_scenario(parse_document(text, "s.yaml", "yaml"))


def test_a_scenario_is_a_snapshot_with_changes() -> None:
    """Topics, members, what they own, lag, and what happens."""
    scenario = read(GOOD)
    app, kip = scenario.snapshot.groups
    first, second = app.members or ()
    assert (first.subscription, first.client_id) == (("orders",), "app-1")
    assert second.subscription == ("orders", "payments")
    assert (second.instance_id, second.rack, second.host) == ("i2", "r1", "h")
    assert scenario.changes["app"] == (AddMembers(2, "web"), RemoveMembers(1, "1"))
    assert scenario.leaders == {"app": "librdkafka"}
    assert (kip.type, kip.assignor) == ("consumer", "uniform")
    assert (kip.members or ())[0].subscription_regex == "pay.*"
    plan = plan_group(scenario.snapshot, app)
    assert [m.lag_before for m in plan.members] == [None, 12]


def test_the_shipped_schema_says_the_same() -> None:
    """`cli/schemas/scenario.json` takes what the reader takes and refuses a misspelt key."""
    text = files("kgroups.cli.schemas").joinpath("scenario.json").read_text(encoding="utf-8")
    schema = Draft202012Validator(json.loads(text))
    schema.validate(yaml.safe_load(GOOD))
    with pytest.raises(ValidationError):
        schema.validate(yaml.safe_load(GOOD.replace("client_id", "clientid")))


def test_what_is_a_scenario() -> None:
    """It says so, or at least does not say that it is something else."""
    assert is_scenario(parse_document(GOOD, "s.yaml", "yaml"))
    assert is_scenario(parse_document("topics: {}\ngrups: {}\n", "s.yaml", "yaml"))
    assert not is_scenario(parse_document("schema: kgroups.snapshot/1\nitems: []", "s", "yaml"))
    assert not is_scenario(parse_document("items: []\ngroups: {}", "s", "yaml"))
    assert not is_scenario(parse_document("[]", "s", "yaml"))


BROKEN = {
    "misspelt key": ("client_id: web", "clientid: web", 13, "unknown key `clientid`"),
    "misspelt root": ("groups:", "grups:", 5, "unknown key `grups`"),
    "unknown topic": ("topics: [orders]", "topics: [ordres]", 10, "there is no topic `ordres`"),
    "two members of one id": ("app-2:", "app-1:", 11, "appears twice"),
    "negative partitions": ("orders: 6", "orders: -6", 3, "at least 0"),
    "too many owned": ("[0, 1, 2]", "[0, 1, 6]", 10, "there is no partition orders-6"),
    "a negative one owned": ("[0, 1, 2]", "[0, 1, -1]", 10, "at least 0"),
    "owned of no topic": ("payments: [0, 1]}", "paymnts: [0]}", 17, "no topic `paymnts`"),
    "owned twice": ("[3, 4, 5]", "[2, 3]", 12, "orders-2 is already owned by `app-1`"),
    "reads nothing": ("{topics: [orders], owned", "{owned", 10, "no subscription"),
    "unknown client": ("client: librdkafka", "client: rdkafka", 8, "expected one of"),
    "unknown protocol": ("protocol: consumer", "protocol: kip", 22, "expected one of"),
    "unknown change": ("add_members: 2:web", "add_member: 2", 19, "unknown key `add_member`"),
    "change of bad form": ("2:web", "two", 19, "is not valid"),
    "two changes in one": ("- remove_member: 1", "  drop_host: h", 19, "expected one change"),
    "pattern of no dialect's": ("^(orders|pay)", "^(orders", 12, "is not valid"),
    "lags for other partitions": ("[5, 7]", "[5]", 4, "1 numbers for 2 partitions"),
    "racks for other partitions": (", [r2]]", "]", 4, "1 entries for 2 partitions"),
    "another schema": ("scenario/1", "scenario/9", 1, "expected one of"),
    "not a mapping": ("app-1: {topics: [orders], owned: {orders: [0, 1, 2]}}", "app-1: 7", 10,
                      "expected a mapping"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_named(name: str) -> None:
    """File and line, what is wrong, and what is accepted where there is a choice."""
    old, new, line, says = BROKEN[name]
    assert old in GOOD
    with pytest.raises(UsageError) as refused:
        read(GOOD.replace(old, new, 1))
    assert "`s.yaml`" in refused.value.message
    assert f"line {line}" in refused.value.message
    assert says in refused.value.message


CYCLES = {
    "a mapping in itself": ("topics: &t {a: *t}\ngroups: {}\n", 1),
    "a list in itself": ("topics: {}\ngroups:\n  g:\n    changes: &c\n    - *c\n", 4),
    "two that hold each other": (
        "topics: {}\ngroups:\n  g: &g\n    members:\n      m: {owned: *g}\n", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_refused(name: str) -> None:
    """An alias that refers to what it stands in, with the line at which that begins."""
    text, line = CYCLES[name]
    with pytest.raises(UsageError) as refused:
        read(text)
    assert "an alias refers to a value that contains it" in refused.value.message
    assert refused.value.message.startswith(f"`s.yaml`, line {line}:")
    assert refused.value.exit_code == 2


def test_an_anchor_is_used_as_often_as_wanted() -> None:
    """Anchors as such are welcome; only a circle is not."""
    text = GOOD.replace("app-1: {topics", "app-1: &one {topics").replace(
        "changes:\n      - add_members: 2:web\n      - remove_member: 1",
        "changes: [&c {add_members: 1}, *c]",
    )
    assert read(text).changes["app"] == (AddMembers(1), AddMembers(1))


def test_instance_ids_are_unique() -> None:
    """Two members of one instance id cannot be in one group."""
    text = GOOD.replace("{topics: [orders], owned", "{instance_id: i2, topics: [orders], owned", 1)
    with pytest.raises(UsageError, match="instance id `i2` is also that of `app-1`"):
        read(text)


COUNTED = """\
topics: {orders: "6"}
groups:
  app: {members: {app: {count: "3", topics: [orders]}, b: {topics: [orders]}}}
"""


def test_an_entry_stands_for_several_members() -> None:
    """With the names that they have in a simulation; numbers may stand in quotes."""
    (group,) = read(COUNTED).snapshot.groups
    found = [(member.member_id, member.client_id) for member in group.members or ()]
    assert found == [("app-1", "app"), ("app-2", "app"), ("app-3", "app"), ("b", "b")]
    simulated = parse_simulation(parse_document(COUNTED, "s.yaml", "yaml")).groups[0]
    assert [member.name for member in simulated.members] == [name for name, _ in found]
    for wrong, said in (
        (COUNTED.replace("b:", "app-2:"), "two members are called `app-2`"),
        (COUNTED.replace('"3",', "2, instance_id: i,"), "cannot share one `instance_id`"),
        (COUNTED.replace('"3",', '"3x",'), "expected a whole number, found the string `3x`"),
    ):
        with pytest.raises(UsageError, match=said):
            read(wrong)
