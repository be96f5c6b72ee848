"""What captures add to a log: told where records are missing, and only there."""

from collections.abc import Mapping

from kgroups.core.history.causes import with_causes
from kgroups.core.history.changes import Change
from kgroups.core.history.looks import CapturedReader, Look, looks_at
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, GroupType, Member
from tests.core.history.test_reader import A, B, told
from tests.support.history.group_log import GroupLog, member

C = "app-3/c"


def group(
    members: Mapping[str, tuple[int, ...]] | None,
    *,
    number: int | None = None,
    kind: GroupType = "classic",
    state: str = "Stable",
    instance: str | None = None,
    committed: int | None = None,
) -> Group:
    """A group with members that have partitions of `t`."""
    is_untold = state == "PreparingRebalance"
    return Group(
        "g",
        kind,
        state,
        generation=number if kind == "classic" else None,
        group_epoch=number if kind == "consumer" else None,
        members=None
        if members is None
        else tuple(
            Member(
                name,
                name.partition("/")[0],
                "/10.0.0.1",
                instance,
                assignment=None if is_untold else {"t": numbers},
            )
            for name, numbers in members.items()
        ),
        offsets={} if committed is None else {"t": {0: CommittedOffset(committed)}},
    )


def looks(*groups: Group | None, first_ms: int = 0, every_ms: int = 1_000) -> list[Look]:
    """Captures of the group, a second apart; None: of a cluster without it."""
    snapshots = [
        ClusterSnapshot(first_ms + n * every_ms, () if one is None else (one,), {})
        for n, one in enumerate(groups)
    ]
    return list(looks_at("g", snapshots))


def changes(log: GroupLog, seen: list[Look], since_ms: int = 0) -> tuple[Change, ...]:
    """What comes of both."""
    reader = CapturedReader(since_ms, seen)
    for entry in log.entries:
        reader.take(entry)
    return with_causes(reader.end())


def lines(*groups: Group | None) -> list[str]:
    """Every change that captures alone tell, in short."""
    return [told(change) for change in changes(GroupLog(), looks(*groups))]


def test_the_first_capture_is_where_history_begins() -> None:
    """Whoever is there in it did not join then; a group that comes later did."""
    one, two = group({A: (0, 1)}, number=7), group({A: (0,), B: (1,)}, number=8)
    assert lines(one, one, two) == [f"8 rebalance +{B} member_joined"]
    assert lines(None, group({A: (0, 1)}, number=1)) == [f"1 rebalance +{A} created"]
    assert lines(one) == []


def test_several_rebalances_between_two_captures() -> None:
    """The numbers tell that there were more."""
    one, later = group({A: (0, 1)}, number=7), group({B: (0, 1)}, number=11)
    assert lines(one, later) == [
        "8-10 gap between_captures",
        f"11 rebalance -{A} +{B} member_left",
    ]
    *_, last = changes(GroupLog(), looks(one, later))
    assert (last.within_ms, last.certainty) == (1_000, "likely")
    epochs = [group({A: ()}, number=number, kind="consumer") for number in (3, 6)]
    assert lines(*epochs)[0] == "4-5 gap between_captures"


def test_without_numbers() -> None:
    """Members and their partitions tell; what is not told in between does not."""
    one, moved = group({A: (0,), B: (1,)}), group({A: (1,), B: (0,)})
    untold = group({A: (), B: ()}, state="PreparingRebalance")
    assert lines(one, one, untold, one) == []
    assert lines(one, untold, moved) == lines(one, moved) == ["None rebalance member_rejoined"]
    (change,) = changes(GroupLog(), looks(one, moved))
    assert (change.kind, change.moved, change.members.clients) == ("rebalance", 2, frozenset())
    assert lines(one, group({}, state="Empty")) == [f"None rebalance -{A} -{B} member_left"]


def test_a_static_member_that_is_back() -> None:
    """No rebalance, with the number or without it."""
    for number in (None, 4):
        before = group({A: (0,)}, instance="i", number=number)
        back = group({"app-1/z": (0,)}, instance="i", number=number)
        assert lines(before, back) == [f"{number} members {A}>app-1/z static_return"]


def test_a_group_that_is_gone() -> None:
    """Only if no later capture has it: one may have failed to read it."""
    one = group({A: (0,)}, number=1)
    assert lines(one, None, one) == []
    assert lines(one, group({}, state="Empty"), None, None)[-1].endswith("deleted None")
    *_, last = changes(GroupLog(), looks(one, None, None))
    assert (last.kind, last.at_ms, last.certainty) == ("deleted", 1_000, "likely")


def test_what_moved_and_went_back() -> None:
    """A commit of each partition and capture in which it stands elsewhere."""
    found = changes(GroupLog(), looks(*(group({}, committed=n) for n in (5, 9, 9, 2))))
    (change,) = found
    assert change.commits is not None
    assert (change.commits.count, change.commits.backwards) == (2, 1)
    assert (change.at_ms, change.within_ms) == (1_000, 1_000)


def test_members_that_are_not_known() -> None:
    """Nothing is said of them."""
    one = group({A: (0,)}, number=1)
    assert lines(one, group(None), one) == []


def test_a_log_that_is_whole_is_believed() -> None:
    """Captures say nothing beside it, also if their clock is off."""
    log = GroupLog().group(1, member(A)).group(2, member(A), member(B)).group(3, member(A))
    late = looks(group({A: ()}, number=1), group({A: (), C: ()}, number=2), first_ms=1_500)
    assert changes(log, late) == log.read()


def test_captures_fill_the_hole() -> None:
    """What happened in it is told once, and the record after it tells the rest."""
    log = GroupLog().group(1, member(A)).compacted().group(5, member(A), member(C), after_ms=9_000)
    seen = looks(
        group({A: (), B: ()}, number=2), group({A: ()}, number=3), first_ms=3_000, every_ms=2_000
    )
    found = changes(log, seen)
    assert [told(change) for change in found] == [
        f"1 rebalance +{A} created",
        f"2 rebalance +{B} member_joined",
        f"3 rebalance -{B} member_left",
        "4-4 gap compaction",
        f"5 rebalance +{C} member_joined",
    ]
    assert [change.within_ms for change in found] == [None, 1_000, 2_000, None, None]
