"""Commits that the application asks for: when they may be sent, repeated, and what is told of them.

A commit speaks for the member's generation, so it is refused here, without being sent, where the
member has none or is between two. Source: `ConsumerCoordinator.sendOffsetCommitRequest`,
`commitOffsetsSync`, `commitOffsetsAsync`.
"""

from kgroups.core.coordinator.classic.messages import NO_GENERATION
from kgroups.core.coordinator.client.classic.member import ClientMember, ClientTimer, Commit
from kgroups.core.coordinator.client.classic.states import ClientState, Reaction
from kgroups.core.coordinator.client.classic.steps import send_commit
from kgroups.core.coordinator.client.effects import ClientEventKind, CommitOffsets
from kgroups.core.protocol.errors import ErrorCode

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
    for commit in [one for one in member.commits if one.serial == serial]:
        member.commits.remove(commit)
        tell_commit(member, commit, "no answer came in time")


def tell_commit(member: ClientMember, commit: Commit, problem: str | None) -> None:
    """Tell the application, by the number that it gave its commit."""
    member.timers.cancel((ClientTimer.COMMIT, commit.serial))
    kind = ClientEventKind.OFFSETS_COMMITTED if problem is None else ClientEventKind.COMMIT_FAILED
    member.tell(kind, problem or "", commit.number)


def _obstacle(member: ClientMember) -> str | None:
    """Why nothing can be committed now; None if it can."""
    if member.state in OVER:
        return "the member is closed" if member.failure is None else member.failure
    if member.state in BETWEEN_GENERATIONS:
        return ErrorCode.REBALANCE_IN_PROGRESS.name
    if member.generation == NO_GENERATION:
        return "the member is not part of an active group"
    return None
