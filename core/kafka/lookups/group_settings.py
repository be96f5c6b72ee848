"""Configurations of a group, as its coordinator tells them, and changes to them."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, Final

from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import WRITING, Doubts, Failure
from kgroups.core.kafka.failures import BrokerFailure, cluster_error, left_out, may_repeat, only
from kgroups.core.kafka.transport.broker_connections import Cluster, by_broker
from kgroups.core.kafka.transport.requests import GROUP_RESOURCE
from kgroups.core.offsets.group_settings import PLAN_SETTINGS, Setting, Source
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import ClusterSnapshot

_SET, _DELETE = 0, 1  # AlterConfigOp.OpType
_OF_GROUP: Final = 8
_SOURCES: Final[Mapping[int, Source]] = {
    2: "dynamic_broker",
    3: "dynamic_default_broker",
    4: "static_broker",
    5: "default",
    _OF_GROUP: "group",
}
_TOO_OLD: Final = "the brokers have no group configurations: they need Kafka 4.0 or newer"


def group_settings(admin: ClusterAdmin, group: str) -> dict[str, Setting]:
    """Every configuration of a group by name, ascending, whether the group exists or not.

    Raises:
        ClusterError: the cluster cannot be asked, or has none.
    """
    found = settings_of_groups(admin, [group])[group]
    if isinstance(found, BrokerFailure):
        raise cluster_error(found)
    return found


def settings_of_groups(
    admin: ClusterAdmin, groups: Sequence[str]
) -> dict[str, dict[str, Setting] | BrokerFailure]:
    """The same of many groups, or why not; a request for each coordinator."""

    async def ask(
        cluster: Cluster, deadline: Deadline
    ) -> dict[str, dict[str, Setting] | BrokerFailure]:
        grouped = by_broker(await _places(cluster, groups, deadline))

        async def work(broker: int, limit: float) -> Any:
            resources = [
                Struct(resource_type=GROUP_RESOURCE, resource_name=name, configuration_keys=None)
                for name in grouped[broker]
            ]
            message = Struct(resources=resources, include_synonyms=True)
            return (await cluster.ask(broker, Api.DESCRIBE_CONFIGS, message, limit))[1]

        answers, failures = await cluster.each_broker(work, deadline, grouped)
        found: dict[str, dict[str, Setting] | BrokerFailure] = dict.fromkeys(groups, left_out())
        for broker, failure in failures.items():
            found |= dict.fromkeys(grouped[broker], failure)
        for answer in answers.values():
            found |= {item.resource_name: _settings(item) for item in answer.results}
        return found

    return admin.over_wire(ask) if groups else {}


def _settings(item: Any) -> dict[str, Setting] | BrokerFailure:
    problem = error_name(item.error_code)
    if problem is not None:
        return _failure(problem, item.error_message)
    if not item.configs:
        return BrokerFailure("UNSUPPORTED_VERSION", _TOO_OLD)
    return {row.name: _setting(row) for row in sorted(item.configs, key=lambda row: str(row.name))}


def with_settings(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, *, strict: bool
) -> ClusterSnapshot:
    """The snapshot, whose share and streams groups know the configurations that plans depend on.

    Args:
        strict: whether it is a failure if those of a group cannot be read.
    Raises:
        ClusterError: they cannot.
    """
    asked = [group.group for group in snapshot.groups if group.type in PLAN_SETTINGS]
    found: Mapping[str, Mapping[str, Setting] | BrokerFailure] = {}
    with nullcontext() if strict else suppress(ClusterError):
        found = settings_of_groups(admin, asked)
    groups = []
    for group in snapshot.groups:
        own = found.get(group.group, {})
        if not isinstance(own, BrokerFailure):
            names = PLAN_SETTINGS.get(group.type, ())
            known = {name: own[name].value for name in names if name in own}
            group = replace(group, settings=known or None)
        elif strict:
            raise cluster_error(own)
        groups.append(group)
    return replace(snapshot, groups=tuple(groups))


def configured_groups(admin: ClusterAdmin) -> tuple[str, ...]:
    """The names that have configurations of their own, ascending, whether such groups exist or not.

    Takes DESCRIBE_CONFIGS on the cluster, and brokers of Kafka 4.1 or later.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> tuple[str, ...]:
        message = Struct(resource_types=[GROUP_RESOURCE])
        broker = next(iter(cluster.brokers))
        _, answer = await cluster.ask(broker, Api.LIST_CONFIG_RESOURCES, message, deadline.at)
        problem = error_name(answer.error_code)
        if problem is not None:
            raise BrokerFailure(problem)
        return tuple(sorted(row.resource_name for row in answer.config_resources))

    return admin.over_wire(ask)


def _setting(row: Any) -> Setting:
    own = [synonym.value for synonym in row.synonyms if synonym.source == _OF_GROUP]
    others = [synonym for synonym in row.synonyms if synonym.source != _OF_GROUP]
    return Setting(
        value=row.value,
        source=_SOURCES.get(row.config_source, "unknown"),
        own=own[0] if own else None,
        inherited=others[0].value if others else None,
        inherited_from=others[0].name if others else None,
    )


def alter_settings(
    admin: ClusterAdmin,
    group: str,
    wanted: Mapping[str, str | None],
    *,
    validate_only: bool = False,
) -> ItemError | None:
    """Set or unset configurations of a group, all of them or none; why that came to nothing.

    Args:
        wanted: the group's own values; None unsets one.
        validate_only: change nothing, only see whether they would be taken.
    """
    configs = [
        Struct(name=name, config_operation=_DELETE if value is None else _SET, value=value)
        for name, value in wanted.items()
    ]
    resource = Struct(resource_type=GROUP_RESOURCE, resource_name=group, configs=configs)
    message = Struct(resources=[resource], validate_only=validate_only)
    doubts: Doubts[str] = Doubts()

    async def ask(cluster: Cluster, deadline: Deadline) -> ItemError | None:
        failure: Failure = None
        async for _ in Attempts(deadline.part(WRITING), whole=True):
            try:
                broker = (await _places(cluster, [group], deadline))[group]
                _, answer = await cluster.ask(
                    broker, Api.INCREMENTAL_ALTER_CONFIGS, message, deadline.at
                )
                row = only(answer.responses)
                problem = error_name(row.error_code)
                failure = None if problem is None else _failure(problem, row.error_message)
            except BrokerFailure as lost:
                failure = lost
            if not validate_only:
                doubts.note(group, failure)
            if not may_repeat(failure):
                break
            cluster.forget_failures()
        return doubts.error(group, group, failure)

    return admin.over_wire(ask, writes=not validate_only)


async def _places(cluster: Cluster, groups: Sequence[str], deadline: Deadline) -> dict[str, int]:
    """The groups' coordinators, as brokers may be set otherwise; or any broker."""
    placed, _ = await cluster.coordinators(groups, deadline)
    return {group: placed.get(group, next(iter(cluster.brokers))) for group in groups}


def _failure(code: str, message: str | None) -> BrokerFailure:
    """Why a broker refused, in its own words where it is about a value."""
    if code == "INVALID_REQUEST":  # what brokers say that do not know this type of resource
        return BrokerFailure("UNSUPPORTED_VERSION", _TOO_OLD)
    words = (message or "").rstrip(".") if code == "INVALID_CONFIG" else ""
    return BrokerFailure(code, words or None)
