"""Files of `plan` and `simulate`, given to the other command."""

import json

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Document
from kgroups.core.planning.scenario import is_scenario, parse_scenario
from kgroups.core.simulation.scenario.scenario_file import parse_simulation

MEMBERS = {"a": {"topics": ["t"], "owned": {"t": [0]}}}
TOPICS = {"t": {"partitions": 2}}
PLAN = {"topics": TOPICS, "groups": {"g": {"members": MEMBERS}}}
SIMULATIONS = [
    {"topics": {"t": {"partitions": 2, "rate": 5}}, "groups": {}},
    {"topics": TOPICS, "until": "1m", "groups": {}},
    {"schema": "kgroups.simulation/1"},
]


def file(value: object, name: str = "f.yaml") -> Document:
    """A parsed file."""
    return Document(name, json.dumps(value), "yaml", value)


@pytest.mark.parametrize("value", SIMULATIONS)
def test_plan_says_that_a_file_is_for_simulate(value: dict[str, object]) -> None:
    """By its schema, its keys or its members; the hint is the command."""
    document = file(value, "deploy.yaml")
    assert is_scenario(document)
    with pytest.raises(
        UsageError, match=r"`deploy.yaml`.*: this is a file for `simulate`"
    ) as raised:
        parse_scenario(document)
    assert raised.value.hint == "kgroups simulate deploy.yaml"


def test_simulate_says_that_a_file_is_for_plan() -> None:
    """By its members."""
    with pytest.raises(UsageError, match="this is a file for `plan`") as raised:
        parse_simulation(file(PLAN, "plan.yaml"))
    assert raised.value.hint == "kgroups plan --from plan.yaml"


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        (None, ("classic", "range")),
        ("eager", ("classic", "range")),
        ("cooperative", ("classic", "cooperative-sticky")),
        ("consumer", ("consumer", "uniform")),
    ],
)
def test_plan_takes_the_protocols_of_simulations(
    protocol: str | None, told: tuple[str, str]
) -> None:
    """With the assignor that goes with each."""
    group = {"members": MEMBERS, **({"protocol": protocol} if protocol else {})}
    (found,) = parse_scenario(file({**PLAN, "groups": {"g": group}})).snapshot.groups
    assert (found.type, found.assignor) == told


def test_an_assignor_is_of_the_protocol() -> None:
    """`eager` with a cooperative strategy is refused."""
    group = {"members": MEMBERS, "protocol": "eager", "assignor": "cooperative-sticky"}
    with pytest.raises(UsageError, match="`cooperative-sticky` is not eager"):
        parse_scenario(file({**PLAN, "groups": {"g": group}}))
