"""One question about many groups, put to the coordinator of each, and again where that may help."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import RETRIABLE, BrokerFailure
from kgroups.core.kafka.reads.settling import unsettled
from kgroups.core.kafka.transport.broker_connections import Cluster, by_broker

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
    found: dict[str, Answer | BrokerFailure] = {}
    placed = dict(coordinators)
    async for attempt in Attempts(deadline):
        if attempt > 1:
            placed, lost = await cluster.coordinators(list(placed), deadline)
            found |= lost
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
            found |= answers
        for broker, failure in failures.items():
            found |= dict.fromkeys(grouped[broker], failure)
        placed = {group: placed[group] for group in placed if _is_retriable(found[group])}
        if not placed:
            break
        cluster.settled.clear()  # a coordinator that comes back has loaded its log anew
    return found


def _is_retriable(answer: object) -> bool:
    return isinstance(answer, BrokerFailure) and answer.code in RETRIABLE
