"""Kafka's own test cases and recorded golden vectors, from YAML files."""

import pytest

from kgroups.assignors.spec import AssignorError
from tests.support.assignors.scenarios import MEMBER_IDS, Scenario, play, scenarios

STICKY = ("sticky", "cooperative-sticky")
CASES = [
    *scenarios("kafka/range.yaml", ("range",), {}, in_racks=True),
    *scenarios("kafka/roundrobin.yaml", ("roundrobin",), {}),
    *scenarios("kafka/sticky.yaml", STICKY, {}, in_racks=True),
    *scenarios("kafka/racks.yaml", (), {}),
    *scenarios("kafka/generated.yaml", (), {}),
    *(
        case._replace(strategy=f"server-{case.strategy}")
        for case in scenarios("kafka/server.yaml", (), {})
    ),
    *scenarios("golden.yaml", (), MEMBER_IDS),
]


@pytest.mark.share(4)
@pytest.mark.parametrize("scenario", CASES, ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario) -> None:
    """The outcome is the one that the file says."""
    if "fails" in scenario.written:
        with pytest.raises(AssignorError) as failure:
            play(scenario)
        assert failure.value.java == scenario.written["fails"]
    else:
        assert play(scenario) == []
