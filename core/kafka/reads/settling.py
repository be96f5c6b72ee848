"""Coordinators that know all of their log, before they are asked what a write is planned on.

Since Kafka 4.0 a coordinator answers readers as of the high watermark of its log. One that has
just taken over learns late how far that is: until its followers have fetched, it answers without
an error from before the last commits, and says of a group that was just made that it is not there.
OffsetFetch with `require_stable` is carried out as a write that writes nothing: it is answered when
all that the coordinator has loaded is committed, and reads on that coordinator see it from then on.
It asks for no topics here, so that open transactions are not in its way. Older coordinators answer
readers from the end of the log, and this at once.

A question about many groups is put to the coordinator of each, and again where that may help.

Source: `GroupCoordinatorService.fetchOffsets`, `CoordinatorRuntime.append`, `CoordinatorLoader`
(Kafka 4); KIP-207, which keeps ListOffsets from the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Final, TypeVar

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import RETRIABLE, BrokerFailure
from kgroups.core.kafka.transport.broker_connections import Cluster, by_broker
from kgroups.core.kafka.transport.messages import decode_fetched
from kgroups.core.kafka.transport.requests import BATCHED_FROM, offset_fetch
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api

_LEFT_OUT: Final = "CORRUPT_MESSAGE"


async def unsettled(
    cluster: Cluster, broker: int, groups: Sequence[str], limit: float
) -> dict[str, BrokerFailure]:
    """Those of the groups that a coordinator cannot be asked about yet, and why.

    The broker waits `offsets.commit.timeout.ms` (5 s) at most before it says so. It is asked once
    about each partition of `__consumer_offsets`, as long as the connection lasts.

    Args:
        broker: their coordinator.
        groups: their names, whether they exist or not.
        limit: seconds of `time.monotonic`.
    Raises:
        BrokerFailure: it did not answer.
    """
    connection = await cluster.connection(broker, limit)
    if (connection.offers(Api.OFFSET_FETCH) or 0) < BATCHED_FROM:
        return {}
    async with cluster.settling.setdefault(broker, asyncio.Lock()):
        return await _settle(cluster, broker, groups, limit)


async def _settle(
    cluster: Cluster, broker: int, groups: Sequence[str], limit: float
) -> dict[str, BrokerFailure]:
    """The same, with a group of each partition that it was not asked about before."""
    settled = cluster.settled.setdefault(broker, set())
    partitions = cluster.offsets_partitions
    places: dict[int | str, list[str]] = {}
    for group in groups:
        place = offsets_partition(group, partitions) if partitions else group
        if place not in settled:
            places.setdefault(place, []).append(group)
    if not places:
        return {}
    codes = await _codes(cluster, broker, [own[0] for own in places.values()], limit)
    denied = [own for own in places.values() if not _tells(codes[own[0]])]
    if others := [group for own in denied for group in own[1:]]:
        codes |= await _codes(cluster, broker, others, limit)
    late: dict[str, BrokerFailure] = {}
    for place, own in places.items():
        codes_now = {codes[group] for group in own if group in codes}
        if None in codes_now:
            settled.add(place)
        for code in RETRIABLE & codes_now:
            late |= dict.fromkeys(own, BrokerFailure(code))
    return late  # any other error is told by the question itself


def _tells(code: str | None) -> bool:
    """Whether an answer about a group tells of its partition, and not only of the group."""
    return code is None or code in RETRIABLE


async def _codes(
    cluster: Cluster, broker: int, groups: Sequence[str], limit: float
) -> dict[str, str | None]:
    """The error name of each group, or None, from a broker that waits until it knows all of it."""
    question = offset_fetch(groups, stable={})
    _, answer = await cluster.ask(broker, Api.OFFSET_FETCH, question, limit, decode_fetched)
    if isinstance(answer, dict):
        return {group: None if group in answer else _LEFT_OUT for group in groups}
    codes = {item.group_id: error_name(item.error_code) for item in answer.groups}
    return {group: codes.get(group, _LEFT_OUT) for group in groups}


async def unsettled_leaders(
    cluster: Cluster, leaders: Mapping[int, tuple[int, int]], deadline: Deadline
) -> dict[int, BrokerFailure]:
    """Those of the leaders of `__consumer_offsets` that cannot be asked about all of it yet.

    Leaders that do not answer at all are left out: they will not list their groups either.

    Args:
        leaders: partition to broker id and epoch; those without one are left out.
    """
    names = names_by_partition(cluster.offsets_partitions or 0)
    placed = {names[number]: broker for number, (broker, _) in leaders.items() if broker >= 0}
    grouped = by_broker(placed)

    async def work(broker: int, limit: float) -> dict[str, BrokerFailure]:
        return await unsettled(cluster, broker, grouped[broker], limit)

    late, _ = await cluster.each_broker(work, deadline, grouped)
    return {broker: next(iter(why.values())) for broker, why in late.items() if why}


@lru_cache(maxsize=4)
def names_by_partition(partitions: int) -> dict[int, str]:
    """A group name for each partition of `__consumer_offsets`; nothing is made under it."""
    names: dict[int, str] = {}
    for number in count():
        if len(names) == partitions:
            break
        name = f"kgroups-{number}"
        names.setdefault(offsets_partition(name, partitions), name)
    return names


Answer = TypeVar("Answer")


async def ask_coordinators(
    cluster: Cluster,
    coordinators: Mapping[str, int],
    deadline: Deadline,
    ask: Callable[[int, Sequence[str], float], Awaitable[Mapping[str, Answer | BrokerFailure]]],
) -> dict[str, Answer | BrokerFailure]:
    """The answer for each group, or why there is none.

    Args:
        coordinators: group to broker id; looked up anew where a broker is not it any more.
        ask: the question for one coordinator: its broker id, its groups, and until when.
    """
    outcomes: dict[str, Answer | BrokerFailure] = {}
    placed = dict(coordinators)
    async for attempt in Attempts(deadline):
        if attempt > 1:
            placed, lost = await cluster.coordinators(list(placed), deadline)
            outcomes |= lost
        grouped = by_broker(placed)

        async def work(
            broker: int, limit: float, grouped: dict[int, list[str]] = grouped
        ) -> Mapping[str, Answer | BrokerFailure]:
            if not cluster.settles:
                return await ask(broker, grouped[broker], limit)
            late = await unsettled(cluster, broker, grouped[broker], limit)
            ready = [group for group in grouped[broker] if group not in late]
            return {**late, **(await ask(broker, ready, limit) if ready else {})}

        results, failures = await cluster.each_broker(work, deadline, grouped)
        for answers in results.values():
            outcomes |= answers
        for broker, failure in failures.items():
            outcomes |= dict.fromkeys(grouped[broker], failure)
        placed = {group: placed[group] for group in placed if _is_retriable(outcomes[group])}
        if not placed:
            break
        cluster.settled.clear()  # a coordinator that comes back has loaded its log anew
    return outcomes


def _is_retriable(answer: object) -> bool:
    return isinstance(answer, BrokerFailure) and answer.code in RETRIABLE
