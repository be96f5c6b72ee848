"""What client halves of every protocol ask, and how they take the errors of answers."""

from enum import Enum, StrEnum


class Api(StrEnum):
    """Requests that a member sends."""

    FIND = "FindCoordinator"
    JOIN = "JoinGroup"
    SYNC = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    COMMIT = "OffsetCommit"
    LEAVE = "LeaveGroup"


class Reaction(Enum):
    """The reactions of a member to an answer's error."""

    PROCEED = "go on"
    RETRY = "ask again after the back-off"
    FIND = "find the coordinator again"
    REJOIN = "join again"
    FORGET_GENERATION = "lose the partitions, join again under the same id"
    FORGET_MEMBER = "lose the partitions, join again as a new member"
    TAKE_ID = "join again with the id handed out"
    GIVE_UP = "leave it undone and go on"
    FATAL = "fail"


# The answers after which the same is asked again.
AGAIN = frozenset({Reaction.RETRY, Reaction.FIND})
