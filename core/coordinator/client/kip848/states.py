"""A member of a consumer group (KIP-848) as tables: its states, and what each error means.

Source: `MemberState`, `ConsumerMembershipManager`, `ConsumerHeartbeatRequestManager`.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import Final

from kgroups.core.protocol.errors import ErrorCode


class MemberState(StrEnum):
    """Where a member is."""

    UNSUBSCRIBED = "Unsubscribed"
    JOINING = "Joining"
    RECONCILING = "Reconciling"
    ACKNOWLEDGING = "Acknowledging"
    STABLE = "Stable"
    FENCED = "Fenced"
    STALE = "Stale"
    PREPARE_LEAVING = "PrepareLeaving"
    LEAVING = "Leaving"
    CLOSED = "Closed"
    FATAL = "Fatal"


S = MemberState
STABLE: Final = S.STABLE
MOVES: Final[Mapping[MemberState, frozenset[MemberState]]] = {
    S.UNSUBSCRIBED: frozenset({S.JOINING, S.PREPARE_LEAVING}),
    S.JOINING: frozenset({S.STABLE, S.RECONCILING, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}),
    S.RECONCILING: frozenset(
        {S.ACKNOWLEDGING, S.STABLE, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}
    ),
    S.ACKNOWLEDGING: frozenset(
        {S.STABLE, S.RECONCILING, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}
    ),
    S.STABLE: frozenset({S.RECONCILING, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}),
    S.FENCED: frozenset({S.JOINING, S.PREPARE_LEAVING}),
    S.STALE: frozenset({S.JOINING, S.PREPARE_LEAVING}),
    S.PREPARE_LEAVING: frozenset({S.LEAVING}),
    S.LEAVING: frozenset({S.UNSUBSCRIBED, S.CLOSED}),
    S.CLOSED: frozenset(),
    S.FATAL: frozenset({S.PREPARE_LEAVING}),
}

BEATING: Final = frozenset({S.JOINING, S.RECONCILING, S.ACKNOWLEDGING, S.STABLE})
# The next heartbeat waits for no interval.
HASTY: Final = frozenset({S.JOINING, S.ACKNOWLEDGING})
LEAVING: Final = frozenset({S.PREPARE_LEAVING, S.LEAVING, S.CLOSED})
# What it owned, if anything, is lost; it joins again once the listener knows and it polls.
THROWN_OUT: Final = frozenset({S.FENCED, S.STALE})


class BeatReaction(Enum):
    """What the answer to a heartbeat makes a member do."""

    PROCEED = "take the answer in"
    RETRY = "ask again after the back-off"
    FIND = "find the coordinator, then ask again"
    FENCE = "lose everything, join again with epoch 0"
    FATAL = "fail"


BEAT_REACTIONS: Final[Mapping[ErrorCode, BeatReaction]] = {
    ErrorCode.NONE: BeatReaction.PROCEED,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: BeatReaction.RETRY,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: BeatReaction.FIND,
    ErrorCode.NOT_COORDINATOR: BeatReaction.FIND,
    ErrorCode.NETWORK_EXCEPTION: BeatReaction.FIND,
    ErrorCode.UNKNOWN_MEMBER_ID: BeatReaction.FENCE,
    ErrorCode.FENCED_MEMBER_EPOCH: BeatReaction.FENCE,
}
