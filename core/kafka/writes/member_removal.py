"""Removal of members from a group, with an answer for each."""

from collections.abc import Sequence

from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import WRITING, Doubts, Failure
from kgroups.core.kafka.failures import BrokerFailure, Lost, item_error, left_out, may_repeat
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.errors import error_name, meaning_of
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import Member


def remove_members(
    admin: ClusterAdmin, group: str, members: Sequence[Member], reason: str
) -> dict[str, ItemError | None]:
    """Outcome for each member, by its id: an error, or None when it was removed.

    A member is named by its id and its instance id, so that one which has taken the instance id
    over in the meantime is not removed.

    Args:
        reason: for the broker's log (from LeaveGroup 5 on).
    Raises:
        ClusterError: the cluster cannot be reached, or not by connections of our own.
    """

    def request(left: Sequence[Member]) -> Struct:
        parts = [
            Struct(member_id=member.member_id, group_instance_id=member.instance_id, reason=reason)
            for member in left
        ]
        return Struct(group_id=group, members=parts)

    doubts: Doubts[str] = Doubts()
    failures: dict[str, Failure] = {}

    async def ask(cluster: Cluster, deadline: Deadline) -> None:
        left = list(members)
        async for _ in Attempts(deadline.part(WRITING), whole=True):
            placed, lost = await cluster.coordinators([group], deadline)
            answers: dict[str, Failure]
            if lost:
                answers = {member.member_id: lost[group] for member in left}
            else:
                answers = await _leave(cluster, placed[group], left, request(left), deadline)
            for name, why in answers.items():
                removed = why == "UNKNOWN_MEMBER_ID" and doubts.holds(name)  # the time before
                failures[name] = None if removed else why
                doubts.note(name, why)
            left = [member for member in left if may_repeat(failures.get(member.member_id))]
            if not left:
                break
            cluster.forget_failures()

    def error(member: str, failure: str | BrokerFailure) -> ItemError:
        about_group = failure == "GROUP_AUTHORIZATION_FAILED"
        why = f"{meaning_of('GROUP_AUTHORIZATION_FAILED').message}: `{group}`"
        return item_error(member, failure, why if about_group else None)

    admin.over_wire(ask, writes=True)
    return {name: doubts.error(name, name, why, error) for name, why in failures.items()}


async def _leave(
    cluster: Cluster,
    broker: int,
    members: Sequence[Member],
    message: Struct,
    deadline: Deadline,
) -> dict[str, Failure]:
    """The entry of a request for each member."""
    names = [member.member_id for member in members]
    try:
        _, answer = await cluster.ask(broker, Api.LEAVE_GROUP, message, deadline.part(WRITING).at)
    except BrokerFailure as failure:
        return dict.fromkeys(names, failure)
    whole = error_name(answer.error_code)
    if whole is not None:
        return dict.fromkeys(names, whole)
    said = {item.member_id: error_name(item.error_code) for item in answer.members}
    return {name: said.get(name, Lost.of(left_out())) for name in names}
