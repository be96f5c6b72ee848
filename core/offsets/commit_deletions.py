"""The plan of deleting commits: pure."""

from collections.abc import Iterable, Mapping

from kgroups.core.lag.rules import lag_at
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.reset import committed, committed_partitions
from kgroups.core.offsets.scope import Scope, log_of
from kgroups.core.snapshot import Group, Topic, TopicPartition


def plan_commit_deletions(
    group: Group, scope: Scope | None, topics: Mapping[str, Topic]
) -> list[Change]:
    """A deletion for each commit in the scope; a named partition without commit is skipped.

    Args:
        group: without members, its commits known.
        scope: None for every commit.
        topics: with the bounds of their logs; one that is missing has been deleted.
    """
    held = committed_partitions(group)
    if scope is None:
        wanted = held
    else:
        named = {at for at in held if scope.holds(at)}
        wanted = sorted(named | set(scope.partitions))
    return [_deletion(group, at, topics) for at in wanted]


def without_commits(changes: Iterable[Change], scope: Scope) -> list[str]:
    """Names of the scope, `topic` or `topic-partition`, for which there is no commit to delete."""
    found = {(change.topic, change.partition) for change in changes if change.old is not None}
    topics = {topic for topic, _ in found}
    return [
        *(topic for topic in scope.topics if topic not in topics),
        *(
            f"{topic}-{number}"
            for topic, number in scope.partitions
            if (topic, number) not in found
        ),
    ]


def _deletion(group: Group, at: TopicPartition, topics: Mapping[str, Topic]) -> Change:
    old = committed(group, at)
    log = log_of(topics, at)
    return Change(
        group.group,
        *at,
        old=old,
        lag_before=lag_at(None if old is None else old.offset, log),
        result="skipped" if old is None else "planned",
    )
