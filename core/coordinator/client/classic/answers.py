"""A member's handling of an answer: the meaning of its error from the tables, then the news in it.

Source: the response handlers of `AbstractCoordinator` and `ConsumerCoordinator`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kgroups.core.coordinator.admin_messages import FindCoordinatorResponse
from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.classic.messages import (
    NO_GENERATION,
    JoinGroupResponse,
    SyncGroupResponse,
)
from kgroups.core.coordinator.client.classic.join import send_sync
from kgroups.core.coordinator.client.classic.member import SESSION_OVER, ClientMember
from kgroups.core.coordinator.client.classic.states import (
    BEAT,
    COMMIT,
    FIND,
    PROCEED,
    ClientAsk,
    reaction_to,
)
from kgroups.core.coordinator.client.classic.steps import commit_again
from kgroups.core.coordinator.client.client_half import BACKOFF, BEAT_DUE
from kgroups.core.coordinator.client.effects import ClientEventKind
from kgroups.core.coordinator.client.ports import PortError
from kgroups.core.coordinator.client.reactions import AGAIN, Api, Reaction
from kgroups.core.coordinator.client.requests import commit_error
from kgroups.core.protocol.errors import ErrorCode

# By what a member sees whether anybody is there.
TELLING = frozenset({Api.HEARTBEAT, Api.FIND})
TOO_MANY = "no answer to one request after the other"
ILLEGAL_ANSWER = "the answer names no assignor of this member"


def take_answer(member: ClientMember, token: int, response: Any, *, late: bool = False) -> None:
    """Take in the answer to a request; None stands for a connection that broke.

    Args:
        late: none came in time.
    """
    flight = member.land(token)
    if flight is None:
        return
    api = flight.api
    assert isinstance(api, Api), "of these, a member sends no other"
    error = ErrorCode.NETWORK_EXCEPTION if response is None else error_of(api, response)
    stale = flight.identity != member.identity
    reaction = reaction_to(api, error)
    if flight.wanted is not None:
        member.settle_commit(flight.wanted, error, again=reaction in AGAIN and not stale)
    elif api is COMMIT:
        _tell_commit(member, error)
    if stale and api is not FIND:
        return
    if response is not None:
        member.losses = 0
    elif api in TELLING and _lose(member, api, late=late):
        return
    if reaction is PROCEED:
        member.attempts = 0
        if api in NEWS:
            NEWS[api](member, response)
    else:
        _react(member, api, reaction, error, response, awaited=flight.awaited)
    if api is BEAT and error in (NO_ERROR, ErrorCode.REBALANCE_IN_PROGRESS):
        keep_session(member)


def keep_session(member: ClientMember) -> None:
    """The coordinator has heard of the member; the session of one that is none stays over."""
    member.timers.move(SESSION_OVER, member.now_ms + member.config.silence_ms)


def _lose(member: ClientMember, api: Api, *, late: bool) -> bool:
    """Count what is lost in a row; whether that was one too many, and everything is given up."""
    config = member.config
    tolerated = config.tolerated_losses
    if tolerated is None or (late and not config.counts_late):
        return False
    member.losses += 1
    if config.repeats_at_once and api is Api.HEARTBEAT and not late:
        member.losses = tolerated + 1
    if member.losses <= tolerated:
        return False
    member.losses = 0
    if member.generation == NO_GENERATION:
        if not config.keeps_id:
            member.losses, member.attempts = 1, 0  # it starts anew once more
        return False
    member.lose_coordinator(TOO_MANY)
    if not config.timeout_closes_connection:
        member.tell(ClientEventKind.CONNECTION_CLOSED, TOO_MANY)
    member.ask(ClientAsk.FORGOTTEN, TOO_MANY, keep_id=config.keeps_id)
    member.attempts = 0
    member.back_off()
    if not config.keeps_id:
        member.attempts = 0
    return True


def error_of(api: Api, response: Any) -> ErrorCode:
    """The error that decides about an answer; of a commit the first that is one."""
    if api is FIND:
        return ErrorCode(response.coordinators[0].error_code)
    if api is COMMIT:
        return commit_error(response)
    code = response.error_code
    return code if type(code) is ErrorCode else ErrorCode(code)


def _react(
    member: ClientMember,
    api: Api,
    reaction: Reaction,
    error: ErrorCode,
    response: Any,
    *,
    awaited: bool,
) -> None:
    reason = f"{api} was answered {error.name}"
    commits = api is Api.COMMIT and awaited
    if reaction is Reaction.FATAL:
        member.fail(reason)
    elif reaction is Reaction.TAKE_ID:
        member.member_id = response.member_id
        member.tell(ClientEventKind.MEMBER_ID_GIVEN, reason, response.member_id)
    elif reaction in (Reaction.FORGET_GENERATION, Reaction.FORGET_MEMBER):
        keep_id = reaction is Reaction.FORGET_GENERATION
        member.ask(ClientAsk.FORGOTTEN, reason, keep_id=keep_id)
    elif reaction is Reaction.REJOIN:
        member.ask(ClientAsk.SYNC_REFUSED if api is Api.SYNC else ClientAsk.REBALANCING, reason)
        _wait_to_rejoin(member, api)
    elif reaction in (Reaction.RETRY, Reaction.FIND):
        if reaction is Reaction.FIND and api is not Api.FIND:
            member.lose_coordinator(reason)
        if api in (Api.FIND, Api.JOIN) or commits:
            member.back_off()
        if commits:
            commit_again(member)
        if api is Api.SYNC:
            member.ask(ClientAsk.SYNC_REFUSED, reason)
        _wait_to_rejoin(member, api)


def _wait_to_rejoin(member: ClientMember, api: Api) -> None:
    """Of a library that waits longer before it joins again than before other requests."""
    wait_ms = member.config.rejoin_backoff_ms
    if wait_ms is not None and api in (Api.JOIN, Api.SYNC):
        member.arm(BACKOFF, wait_ms)


def _found(member: ClientMember, response: FindCoordinatorResponse) -> None:
    member.find(response.coordinators[0])
    if BEAT_DUE in member.timers:
        member.arm(BEAT_DUE, 0)
        member.arm(SESSION_OVER, member.config.silence_ms)


def _joined(member: ClientMember, response: JoinGroupResponse) -> None:
    if response.protocol_name not in member.assignors:
        member.fail(ILLEGAL_ANSWER)
        return
    member.generation, member.member_id = response.generation_id, response.member_id
    member.protocol = response.protocol_name
    if member.ask(ClientAsk.JOINED, f"generation {member.generation}"):
        send_sync(member, response)


def _synced(member: ClientMember, response: SyncGroupResponse) -> None:
    try:
        member.given = member.assignors[member.protocol or ""].read(response.assignment)
    except PortError as broken:
        member.fail(str(broken))
        return
    member.last, member.last_generation = member.given, member.generation
    member.last_bytes = response.assignment
    member.ask(ClientAsk.SYNCED)


def _tell_commit(member: ClientMember, error: ErrorCode) -> None:
    if error is ErrorCode.NONE:
        member.tell(ClientEventKind.OFFSETS_COMMITTED, "")
    else:
        member.tell(ClientEventKind.COMMIT_FAILED, error.name)


# What is in an answer besides its error.
NEWS: Mapping[Api, Callable[[ClientMember, Any], None]] = {
    Api.FIND: _found,
    Api.JOIN: _joined,
    Api.SYNC: _synced,
}
