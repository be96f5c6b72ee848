"""What a log of a group says: a case a kind of change, as a line of text."""

from kgroups.core.coordinator.log.records import ConsumerGroupMetadataKey
from kgroups.core.history.changes import Change, Setback
from tests.support.history.group_log import GroupLog, member

A, B = "app-1/a", "app-2/b"


def told(change: Change) -> str:
    """A change in short: `2 rebalance +app-2 (member_joined)`."""
    members = change.members
    signs = [
        *(f"-{gone.seat.member_id}" for gone in members.left),
        *(f"+{seat.member_id}" for seat in members.joined),
        *(f"{pair.old.seat.member_id}>{pair.new.member_id}" for pair in members.replaced),
    ]
    number = change.number if change.kind != "gap" else f"{change.first_number}-{change.number}"
    return " ".join(map(str, (number, change.kind, *signs, change.cause)))


def lines(log: GroupLog, since_ms: int = 0) -> list[str]:
    """Every change in short."""
    return [told(change) for change in log.read(since_ms)]


def test_a_group_from_its_first_member_to_its_deletion() -> None:
    """Members come, one is replaced, all leave."""
    log = GroupLog().group(0).group(1, member(A, [0, 1]))
    log.group(2, member(A, [0]), member(B, [1])).group(3, member(A, [0]), member("app-2/c", [1]))
    log.group(4).gone()
    assert lines(log) == [
        f"1 rebalance +{A} created",
        f"2 rebalance +{B} member_joined",
        f"3 rebalance {B}>app-2/c restart",
        f"4 rebalance -{A} -app-2/c member_left",
        "4 deleted None",
    ]
    _, second, *_ = log.read()
    assert (second.leader, second.protocol, second.member_count) == (A, "range", 2)
    assert (second.partitions, second.moved, second.since_previous_ms) == (2, 1, 1_000)


def test_generations_without_a_record() -> None:
    """Either compaction removed them, or nothing was removed and they ended early."""
    log = GroupLog().group(1, member(A)).group(4, member(A))
    log.compacted().group(9, member(A))
    assert lines(log)[1::2] == ["2-3 gap unfinished", "5-8 gap compaction"]


def test_history_that_begins_in_the_middle() -> None:
    """The members that are there first did not join then."""
    log = GroupLog().compacted().group(7, member(A)).group(8, member(A), member(B))
    log.group(9, member(B))
    assert lines(log) == [
        "1-6 gap compaction",
        "7 rebalance None",
        f"8 rebalance +{B} member_joined",
        f"9 rebalance -{A} member_left",
    ]
    _, first, *_, last = log.read()
    assert (first.member_count, first.moved) == (1, None)
    (gone,) = last.members.left
    assert gone.stayed_ms is None


def test_consumer_group_whose_history_begins_in_the_middle() -> None:
    """The state of a member that is older than the first epoch left tells of no change."""
    log = GroupLog().joins(A).compacted().has(A, 4, [0]).compacted().joins(B).epoch(5)
    log.has(A, 5, [0]).has(B, 5, [1]).wait(1_000).joins("app-3/c").epoch(6)
    assert lines(log) == [
        "1-4 gap compaction",
        "5 rebalance None",
        "6 rebalance +app-3/c member_joined",
    ]


def test_a_static_member_comes_back() -> None:
    """Its record has the generation of before: no rebalance."""
    log = GroupLog().group(1, member(A, instance="i")).group(1, member("app-1/b", instance="i"))
    assert lines(log)[1:] == [f"1 members {A}>app-1/b static_return"]


def test_a_group_that_was_made_again() -> None:
    """Its generations begin anew; what was committed before is not compared."""
    log = GroupLog().group(1, member(A)).commit(0, 9).commit(0, None).group(2).gone()
    log.wait(5_000).group(1, member(B)).commit(0, 3)
    assert lines(log)[-4:] == [
        "2 rebalance -app-1/a member_left",
        "2 deleted None",
        f"1 rebalance +{B} created",
        "1 commits None",
    ]
    *_, last = log.read()
    assert last.commits is not None
    assert last.commits.backwards == 0


def test_commits_are_counted_between_changes() -> None:
    """Backwards, of partitions that nobody has, and deletions."""
    log = GroupLog().group(1, member(A, [0])).commit(0, 5).commit(0, 3).commit(1, 8)
    log.commit(0, None).group(2, member(A, [0, 1])).commit(1, 9)
    (_, first, _, second) = log.read()
    assert first.commits is not None
    assert second.commits is not None
    found = first.commits
    assert (found.count, found.backwards, found.unowned, found.deleted) == (3, 1, 1, 1)
    assert found.setbacks == (Setback(2_000, "t", 0, 5, 3),)
    assert (second.commits.count, second.commits.unowned) == (1, 0)


def test_what_was_before_is_known_but_not_told() -> None:
    """A commit that went back behind one of before the window."""
    log = GroupLog().group(1, member(A, [0])).commit(0, 5).wait(10_000).commit(0, 4)
    log.group(2, member(A, [0]), member(B))
    commits, change = log.read(since_ms=5_000)
    assert commits.commits is not None
    assert commits.commits.setbacks == (Setback(12_000, "t", 0, 5, 4),)
    assert told(change) == f"2 rebalance +{B} member_joined"


def test_a_group_of_commits_alone() -> None:
    """Nobody ever joined it."""
    (change,) = GroupLog().commit(0, 1).commit(0, 2).read()
    assert change.commits is not None
    assert (change.kind, change.type, change.commits.count) == ("commits", None, 2)


def test_a_consumer_group() -> None:
    """Epochs, targets, and who was last to follow."""
    log = GroupLog().joins("a").epoch(2).target(2, a=[0, 1]).has("a", 2, [0, 1])
    log.wait(1_000).joins("b").epoch(3).target(3, a=[0], b=[1]).has("b", 3, [], state=2)
    log.wait(500).has("a", 3, [0]).wait(200).has("b", 3, [1])
    log.wait(1_000).leaves("a").epoch(4)
    first, second, third = log.read()
    assert [told(change) for change in (first, second, third)] == [
        "2 rebalance +a created",
        "3 rebalance +b member_joined",
        "4 rebalance -a member_left",
    ]
    assert (second.target_epoch, second.partitions, second.moved) == (3, 2, 1)
    assert (second.settled_ms, second.last_member) == (700, "b")
    assert (third.target_epoch, third.settled_ms) == (None, None)


def test_topics_of_a_consumer_group_change() -> None:
    """Their hash does, and no member."""
    log = GroupLog().joins("a").epoch(1).wait(1_000).epoch(2, metadata=6)
    assert lines(log)[1:] == ["2 rebalance topics_changed"]


def test_a_static_member_of_a_consumer_group_comes_back() -> None:
    """Under another id, within the epoch."""
    log = GroupLog().joins("a", instance="i").epoch(1).has("a", 1, [0]).has("a", -2, [0])
    log.wait(1_000).leaves("a").joins("b", instance="i").has("b", 1, [0])
    assert lines(log)[1:] == ["1 members a>b static_return"]


def test_a_group_moves_to_the_other_protocol_and_back() -> None:
    """It is not deleted; its members stay who they are."""
    log = GroupLog().group(1, member("a", [0])).wait(1_000).gone()
    log.joins("a").epoch(2).target(2, a=[0]).has("a", 2, [0]).wait(5_000)
    log.leaves("a").add(ConsumerGroupMetadataKey("g"), None).group(3, member("a", [0]), after_ms=0)
    assert lines(log)[1:] == ["2 rebalance protocol_changed", "3 rebalance protocol_changed"]
