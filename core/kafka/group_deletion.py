"""Deletion of groups, and what became of those for which no answer came."""

from collections.abc import Sequence

from kgroups.core.kafka.answers import Outcome, outcome_of
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import WRITING, Doubts, Failure
from kgroups.core.kafka.failures import BrokerFailure, may_repeat
from kgroups.core.kafka.reads.group_listing import describe
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster, by_broker
from kgroups.core.offsets.result import Doubt, result_of
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api


async def delete_groups(
    cluster: Cluster, groups: Sequence[str], deadline: Deadline
) -> tuple[Outcome, ...]:
    """What became of each group, in the order given; a group named twice is deleted once."""
    names = list(dict.fromkeys(groups))
    if not cluster.has_offsets_topic:
        return tuple(outcome_of(name, "GROUP_ID_NOT_FOUND") for name in names)
    doubts: Doubts[str] = Doubts()
    problems = await _delete(cluster, names, deadline.part(WRITING), doubts)
    errors = {name: doubts.error(name, name, problems[name]) for name in names}
    doubtful = {name: error for name, error in errors.items() if isinstance(error, Doubt)}
    async for _ in Attempts(deadline, whole=True):
        if not doubtful:
            break
        placed, _ = await cluster.coordinators(list(doubtful), deadline)
        for name, seen in (await describe(cluster, placed, {}, deadline)).items():
            if not isinstance(seen, BrokerFailure):
                errors[name] = doubtful[name].refuted
            elif seen.code == "GROUP_ID_NOT_FOUND":
                errors[name] = None
        doubtful = {name: doubt for name, doubt in doubtful.items() if errors[name] is doubt}
        cluster.forget_failures()
    return tuple(Outcome(name, result_of(errors[name]), errors[name]) for name in names)


async def _delete(
    cluster: Cluster, names: Sequence[str], deadline: Deadline, doubts: Doubts[str]
) -> dict[str, Failure]:
    """The last answer for each group; a group that is gone after an attempt was deleted by it."""
    problems: dict[str, Failure] = {}
    left = list(names)
    async for attempt in Attempts(deadline, whole=True):
        find = cluster.known_coordinators if attempt == 1 else cluster.coordinators
        placed, lost = await find(left, deadline)
        problems |= lost
        grouped = by_broker(placed)

        async def ask(
            broker: int, limit: float, grouped: dict[int, list[str]] = grouped
        ) -> dict[str, str | None]:
            return await _delete_on(cluster, broker, grouped[broker], limit)

        results, failures = await cluster.each_broker(ask, deadline, grouped)
        for answers in results.values():
            problems |= answers
        for broker, failure in failures.items():
            problems |= dict.fromkeys(grouped[broker], failure)
        for name in left:
            if problems[name] == "GROUP_ID_NOT_FOUND" and doubts.holds(name):
                problems[name] = None
            doubts.note(name, problems[name])
        left = [name for name in left if may_repeat(problems[name])]
        if not left:
            break
        cluster.forget_failures()
    return problems


async def _delete_on(
    cluster: Cluster, broker: int, groups: Sequence[str], limit: float
) -> dict[str, str | None]:
    _, answer = await cluster.ask(broker, Api.DELETE_GROUPS, requests.delete_groups(groups), limit)
    found = {item.group_id: error_name(item.error_code) for item in answer.results}
    return {group: found.get(group, "CORRUPT_MESSAGE") for group in groups}
