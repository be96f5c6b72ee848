"""The plans of an undo file: there and back, and what is refused since it no longer fits."""

import pytest

from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import Replaced
from kgroups.core.offsets.undo import KnownRows, plan_resume, plan_saved, plan_undo
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic

ID, OTHER = "-hSBI-hcR9G2Eci9fdkQXQ", "5TfksqYDSs6e5cIhw5bq1g"
LOGS = {number: PartitionLog(10, 100) for number in range(2)}
BEFORE = CommittedOffset(40, 3, "memo")


def plan(
    now: int | None,
    *,
    forward: bool = False,
    overwrite: bool = False,
    there: Topic | None = None,
    known: str | None = ID,
    row: Replaced | None = None,
) -> Change:
    """The plan of one row, `40 -> 70` of a topic that is still the same unless said otherwise."""
    held = {} if now is None else {"t": {0: CommittedOffset(now)}}
    group = Group("g", "classic", "Empty", members=(), offsets=held)
    topic = there or Topic("t", LOGS, ID)
    topics = {topic.topic: topic}
    ids = {} if known is None else {"t": known}
    (change,) = (plan_resume if forward else plan_undo)(
        group,
        [row or Replaced("g", "t", 0, BEFORE, CommittedOffset(70))],
        KnownRows(topics, ids, overwrite),
    )
    return change


@pytest.mark.parametrize(
    ("forward", "now", "result", "new"),
    [
        (False, 70, "planned", BEFORE),
        (False, 40, "skipped", BEFORE),
        (False, None, "planned", BEFORE),
        (True, 40, "planned", CommittedOffset(70)),
        (True, 70, "skipped", CommittedOffset(70)),
        (True, None, "planned", CommittedOffset(70)),
    ],
)
def test_there_and_back(
    now: int | None, result: str, new: CommittedOffset, *, forward: bool
) -> None:
    """Back with epoch and metadata, on with the offset alone; what stands there is left."""
    change = plan(now, forward=forward)
    assert (change.result, change.new, change.note) == (result, new, None)


@pytest.mark.parametrize(
    ("now", "result"),
    [
        (CommittedOffset(40, 3), "planned"),
        (CommittedOffset(40), "planned"),
        (CommittedOffset(40, 4), "refused"),
        (CommittedOffset(41, 3), "refused"),
        (None, "refused"),
        (CommittedOffset(70), "skipped"),
    ],
)
def test_a_saved_plan_is_strict(now: CommittedOffset | None, result: str) -> None:
    """A commit that is gone, or of another leader epoch, is not what was reviewed."""
    held = {} if now is None else {"t": {0: now}}
    group = Group("g", "classic", "Empty", members=(), offsets=held)
    row = Replaced("g", "t", 0, BEFORE, CommittedOffset(70, 5, "new"))
    for accept in (False, True):
        known = KnownRows({"t": Topic("t", LOGS, ID)}, {"t": ID}, accept)
        (change,) = plan_saved(group, [row], known)
        assert change.result == ("planned" if accept and result == "refused" else result)
        assert (change.old, change.new) == (now, row.new)
        assert (change.note is None) == (result != "refused")


@pytest.mark.parametrize("forward", [False, True])
def test_progress_is_not_discarded(*, forward: bool) -> None:
    """A commit that is neither of the file's two is refused, unless it may be overwritten."""
    change = plan(95, forward=forward)
    assert change.error is not None
    assert (change.result, change.error.code, change.error.exit_code) == (
        "refused",
        "OFFSET_MOVED",
        4,
    )
    assert "95 was committed since: it was 40, and 70 was written" in change.error.message
    assert change.error.hint is not None
    assert "--overwrite-moved" in change.error.hint
    forced = plan(95, forward=forward, overwrite=True)
    assert (forced.result, forced.error) == ("planned", None)
    assert (forced.old, forced.new) == (CommittedOffset(95), change.new)
    assert forced.note == change.note == "committed since: it was 40, and 70 was written"


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("now", [None, 40, 70, 95])
def test_another_topic_of_that_name(now: int | None, *, forward: bool, overwrite: bool) -> None:
    """Offsets of a topic that was deleted mean nothing in the one that has its name now."""
    there = Topic("t", LOGS, OTHER)
    change = plan(now, forward=forward, overwrite=overwrite, there=there)
    assert change.error is not None
    assert (change.result, change.error.code) == ("refused", "INCONSISTENT_TOPIC_ID")
    nothing = Replaced("g", "t", 0, None, CommittedOffset(70))
    assert plan(None, there=there, row=nothing).result == "skipped"


@pytest.mark.parametrize("there", [Topic("other", LOGS, OTHER), Topic("t", {1: LOGS[1]}, ID)])
def test_a_topic_that_is_gone(there: Topic) -> None:
    """It is refused with its reason, unless there is nothing to do."""
    change = plan(70, there=there)
    assert change.error is not None
    assert (change.result, change.error.code, change.error.exit_code) == (
        "refused",
        "UNKNOWN_TOPIC_OR_PARTITION",
        4,
    )
    assert (
        plan(None, there=there, row=Replaced("g", "t", 0, None, CommittedOffset(70))).result
        == "skipped"
    )


@pytest.mark.parametrize(("known", "there"), [(None, ID), (ID, None), (None, None)])
def test_ids_that_are_not_known(known: str | None, there: str | None) -> None:
    """Without an id a row is done, but never beyond the end of the log."""
    assert plan(70, known=known, there=Topic("t", LOGS, there)).result == "planned"
    short = {0: PartitionLog(0, 39)}
    change = plan(70, known=known, there=Topic("t", short, there))
    assert change.error is not None
    assert (change.result, change.error.code) == ("refused", "OFFSET_OUT_OF_RANGE")
    assert plan(70, there=Topic("t", short, ID)).result == "planned"
