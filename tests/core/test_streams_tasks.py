"""Topics that a streams application has made, and those that it reads."""

import pytest

from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    StreamsMember,
    Subtopology,
    Tasks,
    Topic,
)
from kgroups.core.streams_tasks import (
    input_commits,
    internal_rows,
    internal_topics_of,
    is_named_internal,
    task_rows,
)

PARTS = (
    Subtopology("0", ("in",), (), ("app-x-repartition",)),
    Subtopology("1", ("source-2",), ("app-x-repartition",), (), ("app-y-changelog", "source-2")),
)
COMMIT = CommittedOffset(3)


def test_internal_topics() -> None:
    """Repartition topics and changelogs, but for a changelog that is an input as well."""
    group = Group("app", "streams", "Empty", topology=PARTS)
    assert internal_topics_of(group) == ["app-x-repartition", "app-y-changelog"]
    assert internal_topics_of(Group("app", "streams", "Empty")) == []


def _logs(**ends: int | None) -> dict[str, Topic]:
    return {
        name.replace("_", "-"): Topic(
            name, {0: PartitionLog(log_start_offset=1, log_end_offset=end)}
        )
        for name, end in ends.items()
    }


@pytest.mark.parametrize(
    ("ends", "told", "expected"),
    [
        ({"app_a_changelog": 9, "app_b_changelog": 3}, 10, 2),
        ({"app_a_changelog": 9, "app_b_changelog": 3}, 13, 0),
        ({"app_a_changelog": 9, "app_b_changelog": 3}, None, None),
        ({"app_a_changelog": 9, "app_b_changelog": None}, 10, None),
        ({"app_a_changelog": 9}, 10, None),
    ],
    ids=["summed", "ahead of what we saw", "not told", "log end unknown", "no such topic"],
)
def test_state_lag(ends: dict[str, int | None], told: int | None, expected: int | None) -> None:
    """What the changelogs of a task have beyond the offset that its member told."""
    part = Subtopology("0", ("in",), (), (), ("app-a-changelog", "app-b-changelog"))
    states = {} if told is None else {"0": {0: told}}
    streams = StreamsMember("p", 0, assigned_tasks=Tasks(standby={"0": (0,)}), state_offsets=states)
    members = (Member("m", "c", "/h", streams=streams),)
    group = Group("app", "streams", "Stable", topology=(part,), members=members)
    rows = task_rows(ClusterSnapshot(0, (group,), _logs(**{"in": 5, **ends})), group, {}) or []
    standby = [row for row in rows if row.role == "standby"]
    assert [(row.state_offset, row.state_lag) for row in standby] == [(told, expected)]


def test_internal_rows() -> None:
    """Lag of what is read; none of a changelog, and no row of an input or of what is not there."""
    group = Group("app", "streams", "Empty", topology=PARTS)
    topics = _logs(app_x_repartition=8, source_2=4, **{"in": 1})
    snapshot = ClusterSnapshot(0, (group,), topics)
    lags = {("app-x-repartition", 0): 6, ("source-2", 0): 1}
    assert internal_rows(snapshot, group, lags) == [
        ("1", "app-x-repartition", "repartition", 0, 1, 8, 6)
    ]
    topics |= _logs(app_y_changelog=7)
    assert internal_rows(snapshot, group, lags)[1:] == [  # type: ignore[index]
        ("1", "app-y-changelog", "changelog", 0, 1, 7, None)
    ]
    assert internal_rows(snapshot, Group("c", "consumer", "Empty"), {}) is None


def test_input_commits() -> None:
    """What is committed of inputs, in order, and of no internal topic."""
    offsets = {"in": {1: COMMIT, 0: COMMIT}, "app-x-repartition": {0: COMMIT}, "old": {0: COMMIT}}
    group = Group("app", "streams", "Empty", topology=PARTS, offsets=offsets)
    assert input_commits(group) == [("in", 0), ("in", 1)]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("app-store-changelog", True),
        ("app-store-repartition", True),
        ("app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000003-topic", True),
        ("app-a-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000003-topic", True),
        ("app-a-subscription-response-topic", True),
        ("application-store-changelog", False),
        ("app-store-changelog-2", False),
        ("orders", False),
    ],
)
def test_names_of_internal_topics(topic: str, expected: bool) -> None:
    """The group's name before, and an ending of Kafka Streams behind."""
    assert is_named_internal(topic, "app") is expected
