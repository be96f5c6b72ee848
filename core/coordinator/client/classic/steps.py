"""Steps on the way into a state: commit, revoke, take over, leave; one at a time, in order.

A step that needs an answer or a callback holds up those behind it, and is done again if the
coordinator has to be found first. Source: `ConsumerCoordinator`, `onJoinPrepare`,
`onJoinComplete`, `onLeavePrepare`, `sendOffsetCommitRequest`.
"""

from collections.abc import Callable, Iterable, Mapping

from kgroups.core.coordinator.classic.messages import (
    NO_GENERATION,
    UNKNOWN_MEMBER_ID,
    LeaveGroupRequest,
    MemberIdentity,
)
from kgroups.core.coordinator.client.classic.member import ClientMember
from kgroups.core.coordinator.client.classic.states import (
    AGENDAS,
    ClientAsk,
    ClientState,
    Step,
)
from kgroups.core.coordinator.client.client_half import BACKOFF
from kgroups.core.coordinator.client.effects import (
    CallbackKind,
    ClientEventKind,
    TopicPartition,
)
from kgroups.core.coordinator.client.reactions import Api

LEAVE_VERSION = 5


def run_steps(member: ClientMember) -> None:
    """Do the steps of the present state until one has to wait; after the last, go on."""
    while member.state in AGENDAS:
        if member.callback is not None or member.waits_for(Api.COMMIT, Api.LEAVE):
            return
        if not member.agenda:
            member.ask(AGENDAS[member.state][1])
        elif not STEPS[member.agenda[0]](member):
            return


def send_leave(member: ClientMember, reason: str, *, awaited: bool) -> bool:
    """Say good-bye to the coordinator; False if this member does not (static, or not known)."""
    config = member.config
    joined = member.coordinator is not None and member.member_id != UNKNOWN_MEMBER_ID
    if config.group_instance_id is not None or not joined:
        return False
    request = LeaveGroupRequest(
        version=LEAVE_VERSION,
        client_id=config.client_id,
        client_host=config.client_host,
        group_id=config.group_id,
        members=(MemberIdentity(member.member_id, None, reason),),
    )
    member.send(Api.LEAVE, request, awaited=awaited)
    return True


# ---------------------------------------------------------------------- the steps


def _commit(member: ClientMember) -> bool:
    if not member.config.enable_auto_commit or member.generation == NO_GENERATION:
        return _done(member)
    offsets = member.positions(member.owned)
    if not offsets:
        return _done(member)
    if member.steps_over:
        member.tell(ClientEventKind.COMMIT_FAILED, "no time was left")
        return _done(member)
    if member.coordinator is None or BACKOFF in member.timers:
        return False
    member.send_commit(offsets)
    return _done(member)


def _give_up(member: ClientMember) -> bool:
    if member.cooperative and member.generation != NO_GENERATION:
        wanted = set(member.topics)
        _release(member, [partition for partition in member.owned if partition.topic not in wanted])
    else:
        _release(member, member.owned)
    return _done(member)


def _give_up_all(member: ClientMember) -> bool:
    _release(member, member.owned)
    return _done(member)


def _hand_over(member: ClientMember) -> bool:
    kept = set(member.given)
    leaving = [partition for partition in member.owned if partition not in kept]
    if leaving:
        _release(member, leaving)
        member.ask(ClientAsk.REJOIN, "need to revoke partitions and re-join")
    return _done(member)


def _take_over(member: ClientMember) -> bool:
    before = set(member.owned)
    # The generation was refused while partitions were being revoked: nothing may be taken.
    if member.generation != NO_GENERATION:
        added = tuple(partition for partition in member.given if partition not in before)
        member.owned = member.given
        member.call_back(CallbackKind.ASSIGNED, added)
    return _done(member)


def _leave(member: ClientMember) -> bool:
    if member.state is ClientState.UNSUBSCRIBING:
        reason = "the consumer unsubscribed from all topics"
        send_leave(member, reason, awaited=False)
        member.forget(reason, keep_id=False)
        return _done(member)
    # When the time for closing is over, good-bye is said but no answer waited for.
    if member.config.leaves_on_close:
        send_leave(member, "the consumer is being closed", awaited=not member.steps_over)
    return _done(member)


def _release(member: ClientMember, partitions: Iterable[TopicPartition]) -> None:
    """Revoke partitions; lose them if the generation that gave them is over."""
    leaving = tuple(partitions)
    if leaving:
        lost = member.generation == NO_GENERATION
        member.call_back(CallbackKind.LOST if lost else CallbackKind.REVOKED, leaving)


def _done(member: ClientMember) -> bool:
    member.agenda.popleft()
    return True


STEPS: Mapping[Step, Callable[[ClientMember], bool]] = {
    Step.COMMIT: _commit,
    Step.GIVE_UP: _give_up,
    Step.GIVE_UP_ALL: _give_up_all,
    Step.HAND_OVER: _hand_over,
    Step.TAKE_OVER: _take_over,
    Step.LEAVE: _leave,
}


def commit_again(member: ClientMember) -> None:
    """The commit of the steps failed for now: put it back in front."""
    if member.state in (ClientState.PREPARING, ClientState.LEAVING):
        member.agenda.appendleft(Step.COMMIT)
