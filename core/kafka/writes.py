"""Writes to many groups at once: commits, deletion of commits, removal of members.

All groups of a round are placed by one question, and their requests are on the way together; what
may be tried again is, within the deadline. Every item has its own answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from kgroups.core.errors import ItemError, RefusedError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.alterations import NOBODY, delete_offsets_body, partitions_by_topic
from kgroups.core.kafka.cluster import Attempts, Cluster, Deadline
from kgroups.core.kafka.failures import RETRIABLE, BrokerFailure, item_error
from kgroups.core.kafka.messages import build, build_part, error_name, schema
from kgroups.core.offsets.change import Key
from kgroups.core.snapshot import CommittedOffset, Member

Partition = tuple[str, int]
Commits = Mapping[Partition, CommittedOffset | None]
Failure = str | BrokerFailure | None
Answers = dict[Key, ItemError | None]

IN_FLIGHT = 256


def write_commits(admin: ClusterAdmin, groups: Mapping[str, Commits]) -> Answers:
    """What became of each partition of these groups: an error, or None when it was done.

    Args:
        admin: the cluster.
        groups: group to partition to its new commit; None deletes the commit.
    Raises:
        ClusterError: the cluster cannot be asked.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[tuple[str, str, int], Failure]:
        found: dict[tuple[str, str, int], Failure] = {}
        left = {group: dict(commits) for group, commits in groups.items() if commits}
        gate = asyncio.Semaphore(IN_FLIGHT)
        async for _ in Attempts(deadline):
            placed, lost = await cluster.coordinators(list(left), deadline)

            async def one(
                group: str, wanted: Commits, broker: int | None, failure: Failure
            ) -> dict[Partition, Failure]:
                if broker is None:
                    return dict.fromkeys(wanted, failure)
                async with gate:
                    return await _write_group(cluster, broker, group, wanted, deadline)

            answers = await asyncio.gather(
                *(
                    one(group, wanted, placed.get(group), lost.get(group))
                    for group, wanted in left.items()
                )
            )
            again: dict[str, dict[Partition, CommittedOffset | None]] = {}
            for (group, wanted), answer in zip(left.items(), answers, strict=True):
                for (topic, number), commit in wanted.items():
                    failure = answer.get((topic, number), "NETWORK_EXCEPTION")
                    found[group, topic, number] = failure
                    if _may_retry(failure):
                        again.setdefault(group, {})[topic, number] = commit
            left = again
            if not left:
                break
            cluster.forget_failures()
        return found

    return {
        (group, topic, number): _error(f"{group} {topic}-{number}", failure)
        for (group, topic, number), failure in admin.over_wire(ask).items()
    }


def _error(target: str, failure: Failure) -> ItemError | None:
    if failure is None:
        return None
    if failure == "UNKNOWN_MEMBER_ID":  # a commit of nobody, to a group that is not empty any more
        hint = "stop its consumers first, then try again"
        return ItemError(target, failure, "the group has members now", hint, RefusedError.exit_code)
    return item_error(target, failure)


def _may_retry(failure: Failure) -> bool:
    """Whether a write may be sent again: it names the new state, so twice does no harm."""
    if isinstance(failure, BrokerFailure):
        return failure.code in RETRIABLE or failure.code in (
            "NETWORK_EXCEPTION",
            "REQUEST_TIMED_OUT",
        )
    return failure in RETRIABLE


async def _write_group(
    cluster: Cluster, broker: int, group: str, wanted: Commits, deadline: Deadline
) -> dict[Partition, Failure]:
    """One group's answers: at most one commit and one deletion."""
    found: dict[Partition, Failure] = {}
    commits = {at: commit for at, commit in wanted.items() if commit is not None}
    gone = [at for at, commit in wanted.items() if commit is None]
    requests: list[tuple[str, Any, Sequence[Partition]]] = []
    if commits:
        requests.append(("offset_commit", _commit_body(group, commits), list(commits)))
    if gone:
        requests.append(("offset_delete", delete_offsets_body(group, gone), gone))
    for api, body, partitions in requests:
        try:
            _, answer = await cluster.ask(broker, api, body, deadline.share(2))
        except BrokerFailure as failure:
            found |= dict.fromkeys(partitions, failure)
            continue
        whole = error_name(getattr(answer, "error_code", 0))
        if whole is not None:
            found |= dict.fromkeys(partitions, whole)
            continue
        found |= {
            (topic.name, item.partition_index): error_name(item.error_code)
            for topic in answer.topics
            for item in topic.partitions
        }
    return found


def _commit_body(group: str, commits: Mapping[Partition, CommittedOffset]) -> Any:
    """A commit of nobody: no member, no generation."""

    def body(version: int) -> Any:
        module = schema("offset_commit", version, "request")
        topics = tuple(
            build_part(
                module,
                "OffsetCommitRequestTopic",
                name=topic,
                partitions=tuple(
                    _commit_part(module, number, commits[topic, number]) for number in numbers
                ),
            )
            for topic, numbers in partitions_by_topic(commits).items()
        )
        return build("offset_commit", version, group_id=group, member_id="", topics=topics)

    return body


def _commit_part(module: Any, number: int, commit: CommittedOffset) -> Any:
    return build_part(
        module,
        "OffsetCommitRequestPartition",
        partition_index=number,
        committed_offset=commit.offset,
        committed_leader_epoch=NOBODY if commit.leader_epoch is None else commit.leader_epoch,
        committed_metadata=commit.metadata,
    )


def remove_members(
    admin: ClusterAdmin, group: str, members: Sequence[Member], reason: str
) -> dict[str, ItemError | None]:
    """What became of each member, by its id: an error, or None when it was removed.

    A member is named by its id and its instance id, so that one which has taken the instance id
    over in the meantime is not removed.

    Args:
        admin: the cluster.
        group: its name.
        members: of the group.
        reason: for the broker's log (from LeaveGroup 5 on).
    Raises:
        ClusterError: the coordinator cannot be asked.
    """

    def body(left: Sequence[Member]) -> Any:
        def build_body(version: int) -> Any:
            module = schema("leave_group", version, "request")
            parts = tuple(
                build_part(
                    module,
                    "MemberIdentity",
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    reason=reason,
                )
                for member in left
            )
            return build("leave_group", version, group_id=group, members=parts)

        return build_body

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        left = list(members)
        async for _ in Attempts(deadline):
            placed, lost = await cluster.coordinators([group], deadline)
            if lost:
                raise lost[group]
            _, answer = await cluster.ask(placed[group], "leave_group", body(left), deadline.at)
            whole = error_name(answer.error_code)
            if whole is None:
                found |= {item.member_id: error_name(item.error_code) for item in answer.members}
            else:
                found |= {member.member_id: whole for member in left}
            left = [member for member in left if found.get(member.member_id) in RETRIABLE]
            if not left:
                break
        return found

    return {
        member: None if code is None else item_error(member, code)
        for member, code in admin.over_wire(ask).items()
    }
