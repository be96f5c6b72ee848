"""A member of a classic group as tables: states, inputs, reactions.

The client half looks its outcomes up here. `scripts/draw_states.py` draws the diagram from
the tables. Where the coordinator is does not belong to the state: a member can lose it in any of
them. Source: `AbstractCoordinator`, `ConsumerCoordinator`.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import NamedTuple

from kgroups.core.coordinator.client.reactions import Api, Reaction
from kgroups.core.protocol.errors import ErrorCode


class ClientState(StrEnum):
    """Where a member is on its way into the group."""

    UNJOINED = "Unjoined"
    PREPARING = "Preparing"
    JOINING = "Joining"
    SYNCING = "Syncing"
    ASSIGNING = "Assigning"
    STABLE = "Stable"
    UNSUBSCRIBING = "Unsubscribing"
    LEAVING = "Leaving"
    CLOSED = "Closed"
    FAILED = "Failed"


UNJOINED, PREPARING, JOINING = ClientState.UNJOINED, ClientState.PREPARING, ClientState.JOINING
SYNCING, ASSIGNING, STABLE = ClientState.SYNCING, ClientState.ASSIGNING, ClientState.STABLE
LEAVING, CLOSED, FAILED = ClientState.LEAVING, ClientState.CLOSED, ClientState.FAILED
UNSUBSCRIBING = ClientState.UNSUBSCRIBING

# A JoinGroup is fenced off from heartbeats; before and after it they keep the session alive.
BEATING = frozenset({PREPARING, SYNCING, ASSIGNING, STABLE, UNSUBSCRIBING, LEAVING})
NEEDS_COORDINATOR = BEATING | {JOINING}


class Step(Enum):
    """One thing that is done on entering a state, before it can be left."""

    COMMIT = "commit what was processed"
    GIVE_UP = "revoke or lose partitions before the JoinGroup"
    GIVE_UP_ALL = "revoke or lose every partition"
    HAND_OVER = "revoke what the new assignment takes away"
    TAKE_OVER = "take what the new assignment gives"
    LEAVE = "leave the group, unless static"


class ClientAsk(StrEnum):
    """The inputs of a member: a command, an answer's meaning, a timer, the end of its steps."""

    POLL = "poll, a join being due"
    PREPARED = "prepared"
    JOINED = "JoinGroup answered"
    SYNCED = "SyncGroup answered"
    SYNC_REFUSED = "SyncGroup to be repeated from JoinGroup"
    TAKEN_OVER = "assignment taken over"
    REBALANCING = "heartbeat or commit: rebalance in progress"
    REJOIN = "subscription, topics or revocation ask for a rebalance"
    FORGOTTEN = "generation or member id refused"
    POLL_EXPIRED = "max.poll.interval.ms over"
    UNSUBSCRIBE = "unsubscribe"
    CLOSE = "close"
    LEFT = "left"
    FATAL = "fatal error"


class ClientAct(Enum):
    """The member's reactions."""

    IGNORE = "nothing"
    GO = "go on to the next state"
    REMEMBER = "join again at the next poll"
    FORGET = "forget the generation"
    FORGET_AND_GO = "forget the generation, go on to the next state"


class ClientOutcome(NamedTuple):
    """The reaction of a state to an input; `to` is the state after, None if it stays."""

    act: ClientAct
    to: ClientState | None = None


IGNORE = ClientOutcome(ClientAct.IGNORE)
REMEMBER = ClientOutcome(ClientAct.REMEMBER)
FORGET = ClientOutcome(ClientAct.FORGET)


def _go(to: ClientState) -> ClientOutcome:
    return ClientOutcome(ClientAct.GO, to)


def _forget(to: ClientState) -> ClientOutcome:
    return ClientOutcome(ClientAct.FORGET_AND_GO, to)


def _row(given: Mapping[ClientState, ClientOutcome]) -> Mapping[ClientState, ClientOutcome]:
    return {state: given.get(state, IGNORE) for state in ClientState}


# One row an ask; a state that is not named ignores it.
CLIENT_OUTCOMES: Mapping[ClientAsk, Mapping[ClientState, ClientOutcome]] = {
    ClientAsk.POLL: _row({UNJOINED: _go(PREPARING), STABLE: _go(PREPARING)}),
    ClientAsk.PREPARED: _row({PREPARING: _go(JOINING)}),
    ClientAsk.JOINED: _row({JOINING: _go(SYNCING)}),
    ClientAsk.SYNCED: _row({SYNCING: _go(ASSIGNING)}),
    ClientAsk.SYNC_REFUSED: _row({SYNCING: _go(JOINING)}),
    ClientAsk.TAKEN_OVER: _row({ASSIGNING: _go(STABLE)}),
    # While syncing the answer to SyncGroup will say it too.
    ClientAsk.REBALANCING: _row({ASSIGNING: REMEMBER, STABLE: REMEMBER}),
    ClientAsk.REJOIN: _row(
        {JOINING: REMEMBER, SYNCING: REMEMBER, ASSIGNING: REMEMBER, STABLE: REMEMBER}
    ),
    ClientAsk.FORGOTTEN: _row(
        {
            PREPARING: FORGET,
            JOINING: _forget(PREPARING),
            SYNCING: _forget(PREPARING),
            ASSIGNING: FORGET,
            STABLE: _forget(UNJOINED),
            UNSUBSCRIBING: FORGET,
            LEAVING: FORGET,
        }
    ),
    ClientAsk.POLL_EXPIRED: _row(
        {
            PREPARING: FORGET,
            SYNCING: _forget(UNJOINED),
            ASSIGNING: FORGET,
            STABLE: _forget(UNJOINED),
        }
    ),
    ClientAsk.UNSUBSCRIBE: _row(
        {
            state: _go(UNSUBSCRIBING)
            for state in (UNJOINED, PREPARING, JOINING, SYNCING, ASSIGNING, STABLE)
        }
    ),
    ClientAsk.CLOSE: _row(
        {state: _go(LEAVING) for state in ClientState if state not in (LEAVING, CLOSED)}
    ),
    ClientAsk.LEFT: _row({UNSUBSCRIBING: _go(UNJOINED), LEAVING: _go(CLOSED)}),
    ClientAsk.FATAL: _row(
        {state: _forget(FAILED) for state in ClientState if state not in (LEAVING, CLOSED, FAILED)}
        | {LEAVING: FORGET}
    ),
}

# The steps of a state, in order, and what comes when all are done.
AGENDAS: Mapping[ClientState, tuple[tuple[Step, ...], ClientAsk]] = {
    PREPARING: ((Step.COMMIT, Step.GIVE_UP), ClientAsk.PREPARED),
    ASSIGNING: ((Step.HAND_OVER, Step.TAKE_OVER), ClientAsk.TAKEN_OVER),
    UNSUBSCRIBING: ((Step.GIVE_UP_ALL, Step.LEAVE), ClientAsk.LEFT),
    LEAVING: ((Step.COMMIT, Step.GIVE_UP_ALL, Step.LEAVE), ClientAsk.LEFT),
}


FIND, BEAT, COMMIT = Api.FIND, Api.HEARTBEAT, Api.COMMIT


PROCEED = Reaction.PROCEED
LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
ABSENT, MOVED = ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR
OLD, UNKNOWN = ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID
BUSY = ErrorCode.REBALANCE_IN_PROGRESS

_ALWAYS: Mapping[ErrorCode, Reaction] = {
    ErrorCode.NONE: Reaction.PROCEED,
    LOADING: Reaction.RETRY,
    ABSENT: Reaction.FIND,
    MOVED: Reaction.FIND,
    ErrorCode.REQUEST_TIMED_OUT: Reaction.FIND,
    ErrorCode.NETWORK_EXCEPTION: Reaction.FIND,
    ErrorCode.FENCED_INSTANCE_ID: Reaction.FATAL,
}
_MEMBER: Mapping[ErrorCode, Reaction] = {
    **_ALWAYS,
    OLD: Reaction.FORGET_GENERATION,
    UNKNOWN: Reaction.FORGET_MEMBER,
    BUSY: Reaction.REJOIN,
}
# Errors of each answer; one that is not named is OTHERWISE.
REACTIONS: Mapping[Api, Mapping[ErrorCode, Reaction]] = {
    Api.FIND: {**_ALWAYS, ABSENT: Reaction.RETRY, MOVED: Reaction.RETRY},
    Api.JOIN: {
        **_ALWAYS,
        UNKNOWN: Reaction.FORGET_MEMBER,
        BUSY: Reaction.RETRY,
        ErrorCode.MEMBER_ID_REQUIRED: Reaction.TAKE_ID,
    },
    Api.SYNC: {**_MEMBER, LOADING: Reaction.REJOIN},
    Api.HEARTBEAT: _MEMBER,
    Api.COMMIT: _MEMBER,
    Api.LEAVE: {ErrorCode.NONE: Reaction.PROCEED},
}
OTHERWISE: Mapping[Api, Reaction] = {
    Api.FIND: Reaction.FATAL,
    Api.JOIN: Reaction.FATAL,
    Api.SYNC: Reaction.FATAL,
    Api.HEARTBEAT: Reaction.FATAL,
    Api.COMMIT: Reaction.GIVE_UP,
    Api.LEAVE: Reaction.GIVE_UP,
}


def reaction_to(api: Api, error: ErrorCode) -> Reaction:
    """The reaction to this error in the answer to that request."""
    return REACTIONS[api].get(error, OTHERWISE[api])
