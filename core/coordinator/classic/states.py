"""The classic protocol's states and what each state makes of each request, as tables.

Handlers look their outcome up here. The diagram in the README is drawn from these tables by
`scripts/draw_states.py`, and a test keeps it so.

Source: `ClassicGroupState`, `GroupMetadataManager`.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import NamedTuple

from kgroups.core.protocol.errors import ErrorCode


class ClassicState(StrEnum):
    """States of a classic group, spelled as DescribeGroups shows them."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


EMPTY = ClassicState.EMPTY
PREPARING = ClassicState.PREPARING_REBALANCE
COMPLETING = ClassicState.COMPLETING_REBALANCE
STABLE = ClassicState.STABLE
DEAD = ClassicState.DEAD

ALLOWED_PREVIOUS: Mapping[ClassicState, frozenset[ClassicState]] = {
    EMPTY: frozenset({PREPARING}),
    PREPARING: frozenset({EMPTY, COMPLETING, STABLE}),
    COMPLETING: frozenset({PREPARING}),
    STABLE: frozenset({COMPLETING}),
    DEAD: frozenset(ClassicState),
}


class Ask(StrEnum):
    """The inputs of a group: a request that passed its checks, or a timer."""

    JOIN_NEW_DYNAMIC = "JoinGroup of a new member, version 4 on"
    JOIN_NEW = "JoinGroup of a new member, static or before version 4"
    JOIN_PENDING = "JoinGroup with an id handed out"
    JOIN_REPLACING = "JoinGroup replacing a static member"
    JOIN_UNCHANGED_FOLLOWER = "JoinGroup of a follower, unchanged"
    JOIN_UNCHANGED_LEADER = "JoinGroup of the leader, unchanged"
    JOIN_CHANGED = "JoinGroup of a member, changed"
    SYNC_FOLLOWER = "SyncGroup of a follower"
    SYNC_LEADER = "SyncGroup of the leader"
    HEARTBEAT = "Heartbeat"
    LEAVE = "LeaveGroup"
    COMMIT_MEMBER = "OffsetCommit of a member"
    COMMIT_OUTSIDER = "OffsetCommit without member or generation"
    COMMIT_TRANSACTION = "TxnOffsetCommit"
    FETCH = "OffsetFetch"
    DELETE_OFFSETS_CONSUMER = "OffsetDelete, type consumer"
    DELETE_OFFSETS_OTHER = "OffsetDelete, another type"
    DELETE_GROUP = "DeleteGroups"
    PENDING_EXPIRED = "session timeout of an id handed out"
    SESSION_EXPIRED = "session timeout"
    JOIN_PHASE_OVER = "join phase over"
    JOIN_PHASE_OVER_EMPTY = "join phase over, nobody there"
    SYNC_EXPIRED = "sync timeout"


class Act(Enum):
    """The group's reactions."""

    REFUSE = "answer the error"
    ANSWER = "answer at once"
    HAND_OUT_ID = "hand out a member id"
    PARK = "park; complete the join phase if all joined"
    PARK_REBALANCE = "park; start a rebalance"
    PARK_SYNC = "park until the leader syncs"
    STORE_ASSIGNMENT = "store the assignment, answer every parked SyncGroup"
    RESTART_SESSION = "restart the session timer, answer"
    REPLACE = "replace; rebalance only if the vote changes"
    REBALANCE = "start a rebalance"
    COMPLETE_IF_ALL_JOINED = "complete the join phase if all joined"
    CUT_SHORT_IF_ALL_JOINED = "complete the join phase if all joined, the initial delay too"
    NEXT_GENERATION = "next generation"
    REMOVE_GROUP = "remove the group"
    NOTHING = "nothing"


class Outcome(NamedTuple):
    """The outcome of a request in a state.

    Args:
        error: code of the answer, when it is given now and not further on in the table.
        to: the state after; None if it stays.
    """

    act: Act
    error: ErrorCode = ErrorCode.NONE
    to: ClassicState | None = None


def _refuse(error: ErrorCode) -> Outcome:
    return Outcome(Act.REFUSE, error)


UNKNOWN = _refuse(ErrorCode.UNKNOWN_MEMBER_ID)
REBALANCING = _refuse(ErrorCode.REBALANCE_IN_PROGRESS)
GONE = _refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)
NO_GROUP = _refuse(ErrorCode.GROUP_ID_NOT_FOUND)
NOT_EMPTY = _refuse(ErrorCode.NON_EMPTY_GROUP)
NOTHING = Outcome(Act.NOTHING)
ANSWER = Outcome(Act.ANSWER)
HAND_OUT = Outcome(Act.HAND_OUT_ID, ErrorCode.MEMBER_ID_REQUIRED)
PARK = Outcome(Act.PARK)
PARK_REBALANCE = Outcome(Act.PARK_REBALANCE, to=PREPARING)
RESTART = Outcome(Act.RESTART_SESSION)
COMPLETE = Outcome(Act.COMPLETE_IF_ALL_JOINED)
CUT_SHORT = Outcome(Act.CUT_SHORT_IF_ALL_JOINED)
REBALANCE = Outcome(Act.REBALANCE, to=PREPARING)


def _row(
    empty: Outcome, preparing: Outcome, completing: Outcome, stable: Outcome, dead: Outcome = GONE
) -> Mapping[ClassicState, Outcome]:
    return dict(
        zip(
            (EMPTY, PREPARING, COMPLETING, STABLE, DEAD),
            (empty, preparing, completing, stable, dead),
            strict=True,
        )
    )


# One row an Ask; columns Empty, PreparingRebalance, CompletingRebalance, Stable, Dead.
OUTCOMES: Mapping[Ask, Mapping[ClassicState, Outcome]] = {
    Ask.JOIN_NEW_DYNAMIC: _row(HAND_OUT, HAND_OUT, HAND_OUT, HAND_OUT),
    Ask.JOIN_NEW: _row(PARK_REBALANCE, PARK, PARK_REBALANCE, PARK_REBALANCE),
    Ask.JOIN_PENDING: _row(PARK_REBALANCE, PARK, PARK_REBALANCE, PARK_REBALANCE),
    Ask.JOIN_REPLACING: _row(UNKNOWN, PARK, PARK_REBALANCE, Outcome(Act.REPLACE)),
    Ask.JOIN_UNCHANGED_FOLLOWER: _row(UNKNOWN, PARK, ANSWER, ANSWER),
    Ask.JOIN_UNCHANGED_LEADER: _row(UNKNOWN, PARK, ANSWER, PARK_REBALANCE),
    Ask.JOIN_CHANGED: _row(UNKNOWN, PARK, PARK_REBALANCE, PARK_REBALANCE),
    Ask.SYNC_FOLLOWER: _row(UNKNOWN, REBALANCING, Outcome(Act.PARK_SYNC), ANSWER),
    Ask.SYNC_LEADER: _row(UNKNOWN, REBALANCING, Outcome(Act.STORE_ASSIGNMENT, to=STABLE), ANSWER),
    Ask.HEARTBEAT: _row(
        UNKNOWN,
        Outcome(Act.RESTART_SESSION, ErrorCode.REBALANCE_IN_PROGRESS),
        RESTART,
        RESTART,
    ),
    Ask.LEAVE: _row(NOTHING, COMPLETE, REBALANCE, REBALANCE),
    Ask.COMMIT_MEMBER: _row(ANSWER, RESTART, REBALANCING, RESTART),
    Ask.COMMIT_OUTSIDER: _row(ANSWER, UNKNOWN, UNKNOWN, UNKNOWN),
    Ask.COMMIT_TRANSACTION: _row(ANSWER, ANSWER, ANSWER, ANSWER),
    Ask.FETCH: _row(ANSWER, ANSWER, ANSWER, ANSWER, ANSWER),
    Ask.DELETE_OFFSETS_CONSUMER: _row(ANSWER, ANSWER, ANSWER, ANSWER, NO_GROUP),
    Ask.DELETE_OFFSETS_OTHER: _row(ANSWER, NOT_EMPTY, NOT_EMPTY, NOT_EMPTY, NO_GROUP),
    Ask.DELETE_GROUP: _row(
        Outcome(Act.REMOVE_GROUP, to=DEAD), NOT_EMPTY, NOT_EMPTY, NOT_EMPTY, NO_GROUP
    ),
    Ask.PENDING_EXPIRED: _row(NOTHING, CUT_SHORT, NOTHING, NOTHING, NOTHING),
    Ask.SESSION_EXPIRED: _row(NOTHING, CUT_SHORT, REBALANCE, REBALANCE, NOTHING),
    Ask.JOIN_PHASE_OVER: _row(
        NOTHING, Outcome(Act.NEXT_GENERATION, to=COMPLETING), NOTHING, NOTHING, NOTHING
    ),
    Ask.JOIN_PHASE_OVER_EMPTY: _row(
        NOTHING, Outcome(Act.NEXT_GENERATION, to=EMPTY), NOTHING, NOTHING, NOTHING
    ),
    Ask.SYNC_EXPIRED: _row(NOTHING, NOTHING, REBALANCE, REBALANCE, NOTHING),
}
