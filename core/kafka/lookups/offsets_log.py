"""One partition, as a rule of `__consumer_offsets`, fetched from its leader."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, only
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.messages import decode_passing
from kgroups.core.lag.rules import Isolation
from kgroups.core.protocol.batches import CorruptBatch
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api


def code_of(failure: BrokerFailure | CorruptBatch) -> str:
    """Kafka's error name of what went wrong with a log."""
    return failure.code if isinstance(failure, BrokerFailure) else "CORRUPT_MESSAGE"


@dataclass(frozen=True, slots=True)
class OffsetsLog:
    """Where it is, and until when it is asked; takes READ on its topic.

    Args:
        ahead: what was fetched before, by offset; each answer is given once.
    """

    cluster: Cluster
    broker: int
    partition: int
    deadline: Deadline
    topic: str = OFFSETS_TOPIC
    isolation: Isolation = "read_uncommitted"
    ahead: dict[int, Any] = field(default_factory=dict)

    async def bounds(self) -> tuple[int, int]:
        """Its first offset, and the one after its last record.

        Raises:
            BrokerFailure: it cannot be asked.
        """
        start, end = await asyncio.gather(
            self._bound(requests.EARLIEST), self._bound(requests.LATEST)
        )
        return start, end

    async def first_at(self, time_ms: int) -> int | None:
        """Its first record that is not older, in epoch milliseconds; None if every one is.

        Raises:
            BrokerFailure: it cannot be asked.
        """
        offset = await self._bound(time_ms)
        return None if offset < 0 else offset

    async def fetch(self, offset: int, most: int) -> Any:
        """Records from there on; None where a quota has emptied the answer (KIP-219).

        Raises:
            BrokerFailure: it cannot be read.
        """
        if offset in self.ahead:
            return self.ahead.pop(offset)
        body = requests.fetch({(self.topic, self.partition): offset}, most, self.isolation)
        until = self.deadline.at
        _, answer = await self.cluster.ask(self.broker, Api.FETCH, body, until, decode_passing)
        code = error_name(answer.error_code)
        if code is not None:
            raise BrokerFailure(code)
        if not answer.responses and answer.throttle_time_ms:
            return None
        part = only(only(answer.responses).partitions)
        code = error_name(part.error_code)
        if code is not None:
            raise BrokerFailure(code)
        return part

    async def _bound(self, which: int) -> int:
        body = requests.list_offsets({(self.topic, self.partition): which})
        _, answer = await self.cluster.ask(self.broker, Api.LIST_OFFSETS, body, self.deadline.at)
        part = only(only(answer.topics).partitions)
        code = error_name(part.error_code)
        if code is not None:
            raise BrokerFailure(code)
        return int(part.offset)


async def fetch_ahead(logs: Sequence[OffsetsLog], offsets: Sequence[int], most: int) -> None:
    """The records of logs of one broker in one answer, for their next fetch.

    Where brokers have no record, or no room for the first batch, a log is fetched by itself.
    """
    first = logs[0]
    wanted = {(log.topic, log.partition): offset for log, offset in zip(logs, offsets, strict=True)}
    body, until = requests.fetch(wanted, most, first.isolation), first.deadline.at
    try:
        _, answer = await first.cluster.ask(first.broker, Api.FETCH, body, until, decode_passing)
    except BrokerFailure:  # whoever fetches them is told
        return
    parts = {
        (row.topic, part.partition_index): part
        for row in answer.responses
        for part in row.partitions
    }
    for log, offset in zip(logs, offsets, strict=True):
        part = parts.get((log.topic, log.partition))
        if part is not None and not part.error_code and part.records:
            log.ahead[offset] = part
