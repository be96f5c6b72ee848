"""Removal of members from a group, with an answer for each."""

from collections.abc import Sequence
from typing import Any

from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import may_repeat
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.framing import build, build_part, error_name, schema
from kgroups.core.snapshot import Member


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
            left = [member for member in left if may_repeat(found.get(member.member_id))]
            if not left:
                break
        return found

    return {
        member: None if code is None else item_error(member, code)
        for member, code in admin.over_wire(ask).items()
    }
