"""The names that stay, which `kgroups.assignors` gives."""

from kgroups.assignors.checks import (
    PROPERTIES,
    Finding,
)
from kgroups.assignors.other_clients.choices import (
    PossibleAnswers,
    possible_answers,
)
from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.other_clients.variants import is_exact
from kgroups.assignors.registry import (
    LEADERS,
    assignor,
    server_assignor,
)
from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    Assignor,
    AssignorError,
    Fault,
    LastAssignment,
    MemberSubscription,
    Remembering,
    TopicPartition,
    TopicPartitions,
    WithUserData,
)
from kgroups.assignors.subscriptions import (
    assignment_bytes,
    last_assignment,
    member_subscription,
    subscription_bytes,
)
from kgroups.assignors.user.conformance import check_assignor
from kgroups.assignors.user.user_defined import (
    GuardedAssignor,
    load_assignor,
)
from kgroups.assignors.wire import WireError

__all__ = [
    "LEADERS",
    "PROPERTIES",
    "Assignment",
    "AssignmentRequest",
    "Assignor",
    "AssignorError",
    "Fault",
    "Finding",
    "GuardedAssignor",
    "LastAssignment",
    "MemberSubscription",
    "PossibleAnswers",
    "Remembering",
    "TopicPartition",
    "TopicPartitions",
    "WireError",
    "WithUserData",
    "assignment_bytes",
    "assignor",
    "check_assignor",
    "is_exact",
    "last_assignment",
    "load_assignor",
    "member_subscription",
    "possible_answers",
    "rejoin_as",
    "server_assignor",
    "subscription_bytes",
]
