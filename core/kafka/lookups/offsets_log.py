"""One partition, as a rule of `__consumer_offsets`, fetched from its leader."""

import asyncio
from dataclasses import dataclass
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
    """Where it is, and until when it is asked; takes READ on its topic."""

    cluster: Cluster
    broker: int
    partition: int
    deadline: Deadline
    topic: str = OFFSETS_TOPIC
    isolation: Isolation = "read_uncommitted"

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
        body = requests.fetch(self.topic, self.partition, offset, most, self.isolation)
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
