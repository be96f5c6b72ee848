"""Answers of the adapter besides a snapshot: a listing of groups, and outcomes of writes."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from kgroups.core.errors import ItemError
from kgroups.core.kafka.failures import BrokerFailure, item_error
from kgroups.core.offsets.result import Result, result_of
from kgroups.core.snapshot import Broker, Group

Isolation = Literal["read_uncommitted", "read_committed"]
Progress = Callable[[str], None]


class SnapshotScope(NamedTuple):
    """The contents of a snapshot; as `ClusterAdmin.snapshot` has it."""

    members: bool = True
    offsets: bool = True
    log_offsets: bool = True
    isolation: Isolation = "read_uncommitted"
    more_topics: Callable[[str], bool] | None = None
    progress: Progress = lambda _: None


class GroupListing(NamedTuple):
    """The groups of a cluster without their members.

    Args:
        groups: ascending by name; without their partitions of `__consumer_offsets`.
        brokers: ascending by id.
        cluster_id: None if the brokers do not say.
        errors: brokers that could not be asked: their groups are missing.
    """

    groups: tuple[Group, ...]
    brokers: tuple[Broker, ...] = ()
    cluster_id: str | None = None
    errors: tuple[ItemError, ...] = ()


class Placement(NamedTuple):
    """Where groups live, whether they exist or not.

    Args:
        partitions: of `__consumer_offsets`; None if there is no such topic or it is not shown.
        coordinators: group to broker; groups that have none now are in `errors`.
        cluster_id: None if the brokers do not say.
        bootstrap: the address that was given.
        errors: groups without a coordinator.
    """

    partitions: int | None
    coordinators: dict[str, Broker]
    cluster_id: str | None = None
    bootstrap: str | None = None
    errors: tuple[ItemError, ...] = ()


class Outcome(NamedTuple):
    """Result of one item of a write.

    Args:
        result: `refused` when the state of the item forbids it, `unknown` when no answer came that
            tells, `failed` for any other reason.
    """

    target: str
    result: Result
    error: ItemError | None = None


def no_offsets_topic(group: str) -> ItemError:
    """Row for a group that cannot be placed because no group was ever used on the cluster."""
    detail = "the cluster has no `__consumer_offsets` yet, so groups have no coordinator"
    return item_error(group, "COORDINATOR_NOT_AVAILABLE", detail)


def outcome_of(target: str, failure: str | BrokerFailure | None) -> Outcome:
    """Outcome of one item.

    Args:
        failure: Kafka's error name or the failed exchange; None when it was done.
    """
    error = None if failure is None else item_error(target, failure)
    return Outcome(target, result_of(error), error)
