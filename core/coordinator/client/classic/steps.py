"""Steps on the way into a state: commit, revoke, take over, leave; one at a time, in order.

Commits that the application asks for, too: one speaks for the member's generation, so it is refused
here, without being sent, where the member has none or is between two.

A step that needs an answer or a callback holds up those behind it, and is done again if the
coordinator has to be found first. Source: `ConsumerCoordinator`, `onJoinPrepare`,
`onJoinComplete`, `onLeavePrepare`, `sendOffsetCommitRequest`, `commitOffsetsSync`,
`commitOffsetsAsync`.
"""

from collections.abc import Callable, Iterable, Mapping

from kgroups.core.coordinator.classic.messages import (
    NO_GENERATION,
    UNKNOWN_MEMBER_ID,
    LeaveGroupRequest,
    MemberIdentity,
)
from kgroups.core.coordinator.client.classic.member import ClientMember, ClientTimer, Commit
from kgroups.core.coordinator.client.classic.states import (
    AGENDAS,
    Api,
    ClientAsk,
    ClientState,
    Reaction,
    Step,
)
from kgroups.core.coordinator.client.effects import (
    CallbackKind,
    ClientEventKind,
    CommitOffsets,
    TopicPartition,
)
from kgroups.core.coordinator.client.requests import commit_request
from kgroups.core.protocol.errors import ErrorCode

LEAVE_VERSION = 5


def run_steps(member: ClientMember) -> None:
    """Do the steps of the present state until one has to wait; after the last, go on."""
    while member.state in AGENDAS:
        if member.callback is not None or member.current.keys() & {Api.COMMIT, Api.LEAVE}:
            return
        if not member.agenda:
            member.ask(AGENDAS[member.state][1])
        elif not STEPS[member.agenda[0]](member):
            return


def send_commit(
    member: ClientMember,
    offsets: Mapping[TopicPartition, int],
    *,
    awaited: bool,
    commit: Commit | None = None,
) -> None:
    """Commit these offsets as the member that it is now."""
    request = commit_request(member.config, member.generation, member.member_id, offsets)
    member.send(Api.COMMIT, request, awaited=awaited, commit=commit)


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


def finish_callback(member: ClientMember, number: int) -> None:
    """The listener has finished: what it was told to give up is no more owned."""
    callback = member.callback
    if callback is None or callback.number != number:
        return
    member.callback = None
    if callback.kind is not CallbackKind.ASSIGNED:
        gone = set(callback.partitions)
        member.owned = tuple(partition for partition in member.owned if partition not in gone)


# ---------------------------------------------------------------------- the steps


def _commit(member: ClientMember) -> bool:
    if not member.config.enable_auto_commit or member.generation == NO_GENERATION:
        return _done(member)
    offsets = member.ports.positions(member.owned)
    if not offsets:
        return _done(member)
    if member.steps_over:
        member.tell(ClientEventKind.COMMIT_FAILED, "no time was left")
        return _done(member)
    if member.coordinator is None or member.is_armed(ClientTimer.BACKOFF):
        return False
    send_commit(member, offsets, awaited=True)
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


BETWEEN_GENERATIONS = frozenset({ClientState.JOINING, ClientState.SYNCING})
OVER = frozenset({ClientState.CLOSED, ClientState.FAILED})


def ask_commit(member: ClientMember, command: CommitOffsets) -> None:
    """Take in the application's wish; it is carried out as soon as it can be."""
    until_ms = None
    serial = member.number()
    if command.sync:
        until_ms = member.now_ms + member.config.default_api_timeout_ms
        member.arm(ClientTimer.COMMIT, member.config.default_api_timeout_ms, serial)
    member.commits.append(Commit(serial, dict(command.offsets), command.number, until_ms))


def send_commits(member: ClientMember) -> None:
    """Send what waits, once the coordinator is known; refuse what cannot be sent any more."""
    waiting, member.commits = member.commits, []
    for commit in waiting:
        obstacle = _obstacle(member)
        if obstacle is not None:
            tell_commit(member, commit, obstacle)
        elif member.coordinator is None or member.is_armed(ClientTimer.BACKOFF):
            member.commits.append(commit)
        else:
            send_commit(member, commit.offsets, awaited=False, commit=commit)


def commit_answered(
    member: ClientMember, commit: Commit, error: ErrorCode, reaction: Reaction, *, stale: bool
) -> None:
    """Tell how a commit went; one that the application waits for is first tried again."""
    retriable = reaction in (Reaction.RETRY, Reaction.FIND) and not stale
    if retriable and commit.until_ms is not None and member.now_ms < commit.until_ms:
        member.commits.append(commit)
        member.back_off()
    else:
        tell_commit(member, commit, None if error is ErrorCode.NONE else error.name)


def commit_over(member: ClientMember, serial: int) -> None:
    """The time of a commit is over: it waits for its coordinator no longer."""
    for commit in [commit for commit in member.commits if commit.serial == serial]:
        member.commits.remove(commit)
        tell_commit(member, commit, "no answer came in time")


def tell_commit(member: ClientMember, commit: Commit, problem: str | None) -> None:
    """Tell the application, by the number that it gave its commit."""
    member.timers.cancel((ClientTimer.COMMIT, commit.serial))
    member.tell_commit(commit.number, problem)


def _obstacle(member: ClientMember) -> str | None:
    """Why nothing can be committed now; None if it can."""
    if member.state in OVER:
        return "the member is closed" if member.failure is None else member.failure
    if member.state in BETWEEN_GENERATIONS:
        return ErrorCode.REBALANCE_IN_PROGRESS.name
    if member.generation == NO_GENERATION:
        return "the member is not part of an active group"
    return None
