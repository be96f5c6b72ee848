"""Lines of a timeline: in the words of a scenario, and never Python's."""

import re

import pytest

from kgroups.core.simulation.scenario.event_file import event_text, parse_event
from kgroups.core.simulation.scenario.scenario_events import SCENARIO_EVENTS
from tests.support.simulation.sample_scenarios import EVENTS, scenario, with_event

TEXTS = {
    "rolling_restart:members=m-1+m-2": "members m-1+m-2, down 10.0s, pause 30.0s, graceful true",
    "seek:to=timestamp:10s,partitions=0+1": "to timestamp:10000ms, partitions 0+1",
    "load:topic=orders,rate=90/m": "topic orders, rate 1.5/s",
    "network_partition:member=m-1,for=5s": "member m-1, for 5.0s, lost both",
    "deploy:change.static=true,change.topics=orders,change.fetch.min.bytes=5": (
        "kind Deployment, maxSurge 25%, maxUnavailable 25%, startup 5.0s, readiness 5.0s, "
        "minReadySeconds 0, terminationGracePeriodSeconds 30, progressDeadlineSeconds 600, "
        "graceful true, change static=true, topics=orders, fetch.min.bytes=5"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spelled", "text"), TEXTS.items())
def test_an_event_is_told_by_the_keys_of_a_file(spelled: str, text: str) -> None:
    """Times with their units, lists as the command line has them."""
    assert event_text(parse_event(spelled, scenario()).event) == text


def test_no_event_is_told_in_python() -> None:
    """Neither tuples nor objects, nor fields in the place of keys."""
    told = [event_text(with_event(kind, "eager")[1].events[-1].event) for kind in EVENTS]
    assert len(told) == len(SCENARIO_EVENTS)
    assert not [text for text in told if re.search(r"[('{<]|None|True|False|_ms", text)]
