"""The brokers of one cluster and a connection to each: who is there, who coordinates, who leads."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.errors import ItemError
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import (
    RETRIABLE,
    UNSEEN,
    BrokerFailure,
    Lost,
    UnknownHost,
    item_error,
    left_out,
)
from kgroups.core.kafka.transport.bootstrap import first_to_answer
from kgroups.core.kafka.transport.connection import Connection, Reader
from kgroups.core.kafka.transport.inbox import Allowance, address_text
from kgroups.core.kafka.transport.messages import Message, decode_passing, decode_response
from kgroups.core.kafka.transport.requests import BROKERS, find_coordinator, metadata
from kgroups.core.kafka.write_guard import check_write
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import Broker, GroupType

Result = TypeVar("Result")

AHEAD = 8
"""So many brokers, at most, are connected to before it is known whether they will be asked."""

_TURNS_TO_AN_END = 8


class Cluster:
    """Connections to the brokers of one cluster, opened when first needed.

    Args:
        settings: how to reach and enter it.
        tls: context, when the settings ask for TLS.
    """

    def __init__(self, settings: ClientSettings, tls: ssl.SSLContext | None) -> None:
        self.settings = settings
        self.brokers: dict[int, Broker] = {}
        self.cluster_id: str | None = None
        self.offsets_partitions: int | None = None
        self.has_offsets_topic = True
        self.placed: dict[str, int] = {}  # group -> coordinator, as last learned
        self.types: dict[str, GroupType] = {}  # of groups that are not read as classic ones are
        self.offsets_leaders: dict[int, tuple[int, int]] = {}  # partition -> broker id and epoch
        self.may_write = False  # whether the question that is put now may change the cluster
        self.settles = False  # whether coordinators are asked only about what they know for sure
        self.settled: dict[int, set[int | str]] = {}  # broker -> partitions, or groups
        self.settling: dict[int, asyncio.Lock] = {}
        self._just_opened = True
        self._tls = tls
        self._allowance = Allowance(settings.max_answer_bytes)
        self._connections: dict[tuple[int, int], Connection] = {}  # by broker and lane
        self._opening: dict[tuple[int, int], asyncio.Lock] = {}
        self._failed: dict[int, BrokerFailure] = {}
        self._ahead: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(
        cls, settings: ClientSettings, tls: ssl.SSLContext | None, deadline: Deadline
    ) -> Self:
        """A cluster of which the brokers are known.

        Raises:
            BrokerFailure: no bootstrap server could be asked.
        """
        cluster = cls(settings, tls)
        first = await first_to_answer(settings, tls, cluster._allowance, deadline)
        try:
            cluster._learn(await first.early_answer(BROKERS, deadline.at))
        except BaseException:
            await first.close()
            raise
        cluster._adopt(first)
        return cluster

    async def close(self) -> None:
        """Ends all connections."""
        for task in self._ahead:
            task.cancel()
        await asyncio.gather(*self._ahead, return_exceptions=True)
        connections = list(self._connections.values())
        self._connections.clear()
        await asyncio.gather(*(connection.close() for connection in connections))

    def forget_failures(self) -> None:
        """Lets brokers that could not be reached be tried again: a new operation begins."""
        self._failed.clear()
        self._allowance.room.clear()
        self._just_opened = False

    async def hear_of_ends(self) -> None:
        """Lets connections that brokers closed, idle for ten minutes, notice it: the event loop
        reads that by the socket, by TLS, by the stream and by the task, a turn each.
        """
        for _ in range(_TURNS_TO_AN_END):
            await asyncio.sleep(0)

    async def placing(self, deadline: Deadline) -> dict[int, tuple[int, int]]:
        """The leader of each partition of `__consumer_offsets`, and its epoch, as they are now.

        Raises:
            BrokerFailure: no broker answered.
        """
        if not self._just_opened:
            await self.metadata([OFFSETS_TOPIC], deadline)
        self._just_opened = False
        return self.offsets_leaders

    async def lost_groups(self, deadline: Deadline) -> ItemError | None:
        """Why a listing of all brokers lacks groups; None if it does not.

        A broker that is down is not among the brokers any more, and its groups are listed by
        nobody: only the partitions of `__consumer_offsets` without a leader tell.
        """
        if not (self._just_opened or self.settles):
            await self.metadata([OFFSETS_TOPIC], deadline)
        leaderless = sum(leader < 0 for leader, _ in self.offsets_leaders.values())
        if not leaderless:
            return None
        detail = (
            f"{leaderless} of its {self.offsets_partitions} partitions have no leader, "
            "so their groups are missing"
        )
        return item_error(OFFSETS_TOPIC, "COORDINATOR_NOT_AVAILABLE", detail)

    async def ask(
        self,
        broker: int,
        api: Api,
        message: Message,
        deadline: float,
        read: Reader = decode_response,
        lane: int = 0,
    ) -> tuple[int, Any]:
        """Version and answer of one request to one broker, as `Connection.ask` gives them.

        Raises:
            BrokerFailure: it could not be asked; a `Lost` if it was, and did not answer.
        """
        check_write(api, message, may_write=self.may_write)
        connection = await self.connection(broker, deadline, lane)
        try:
            return await connection.ask(api, message, deadline, read)
        except BrokerFailure as failure:
            if failure.code == "REQUEST_TIMED_OUT":
                self._failed[broker] = failure
            if failure.code == "UNSUPPORTED_VERSION":
                raise
            raise Lost.of(failure) from failure

    async def ask_many(
        self,
        broker: int,
        api: Api,
        messages: Sequence[Message],
        deadline: float,
        read: Reader = decode_response,
        lane: int = 0,
    ) -> list[Any]:
        """The answers of many requests to one broker, or a `Lost` for each that has none.

        Raises:
            BrokerFailure: it could not be asked.
        """
        check_write(api, messages[:1], may_write=self.may_write)
        connection = await self.connection(broker, deadline, lane)
        answers = await connection.ask_many(api, messages, deadline, read)
        for answer in answers:
            if isinstance(answer, BrokerFailure) and answer.code == "REQUEST_TIMED_OUT":
                self._failed[broker] = answer
        return [Lost.of(a) if isinstance(a, BrokerFailure) else a for a in answers]

    async def connection(self, broker: int, deadline: float, lane: int = 0) -> Connection:
        """The connection to a broker, opened now if there is none.

        A broker carries out the requests of one connection one after the other, so that many
        writes need several: its lanes.

        Raises:
            BrokerFailure: the broker is not known or cannot be reached.
        """
        async with self._opening.setdefault((broker, lane), asyncio.Lock()):
            connection = self._connections.get((broker, lane))
            if connection is not None and await connection.stays_open(deadline):
                return connection
            if broker in self._failed:
                raise self._failed[broker]
            if broker not in self.brokers:
                raise BrokerFailure("BROKER_NOT_AVAILABLE", f"broker {broker} is not available")
            if connection is not None:
                await connection.close()
            address = (self.brokers[broker].host, self.brokers[broker].port)
            try:
                fresh = await Connection.open(
                    address, self.settings, self._tls, deadline, self._allowance
                )
            except UnknownHost as failure:
                self._failed[broker] = failure.advertised_by(broker)
                raise self._failed[broker] from failure
            except BrokerFailure as failure:
                self._failed[broker] = failure
                raise
            self._connections[broker, lane] = fresh
            if not lane:
                self.settled.pop(broker, None)  # it may have started again
            return fresh

    def open_ahead(self, deadline: Deadline) -> None:
        """Connects to brokers that may have to be asked, while others are waited for.

        Of a large cluster most would never be asked.
        """
        strangers = [broker for broker in self.brokers if (broker, 0) not in self._connections]
        if len(strangers) > AHEAD:
            return
        for broker in strangers:
            task = asyncio.create_task(self._open_ahead(broker, deadline.share(len(self.brokers))))
            self._ahead.add(task)
            task.add_done_callback(self._ahead.discard)

    async def _open_ahead(self, broker: int, limit: float) -> None:
        with suppress(BrokerFailure):  # whoever asks it will see why
            await self.connection(broker, limit)

    def label(self, broker: int) -> str:
        """`broker 3 (host:port)`, for messages."""
        place_of = self.brokers.get(broker)
        place = f" ({address_text((place_of.host, place_of.port))})" if place_of else ""
        return f"broker {broker}{place}"

    async def each_broker(
        self,
        work: Callable[[int, float], Awaitable[Result]],
        deadline: Deadline,
        brokers: Iterable[int] | None = None,
    ) -> tuple[dict[int, Result], dict[int, BrokerFailure]]:
        """Results of `work(broker, deadline)` by broker, and the brokers that failed.

        All brokers are asked at once; one that fails does not stop the others.
        """
        ids = sorted(self.brokers) if brokers is None else list(brokers)
        limit = deadline.share(len(ids))
        outcomes = await asyncio.gather(
            *(work(broker, limit) for broker in ids), return_exceptions=True
        )
        results: dict[int, Result] = {}
        failures: dict[int, BrokerFailure] = {}
        for broker, outcome in zip(ids, outcomes, strict=True):
            if isinstance(outcome, BrokerFailure):
                failures[broker] = outcome
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                results[broker] = outcome
        return results, failures

    async def metadata(self, topics: Sequence[str] | None, deadline: Deadline) -> Any:
        """A Metadata answer for these topics (None: all), from any broker that answers.

        Raises:
            BrokerFailure: no broker answered.
        """
        failure = BrokerFailure("BROKER_NOT_AVAILABLE", "no broker is available")
        connected = [
            broker for (broker, lane), item in self._connections.items() if item.usable and not lane
        ]
        for broker in [*connected, *(item for item in self.brokers if item not in connected)]:
            limit = deadline.share(len(self.brokers))
            try:
                _, answer = await self.ask(broker, Api.METADATA, metadata(topics), limit)
                self._learn(answer)
            except BrokerFailure as error:
                failure = error
                continue
            return answer
        raise failure

    async def coordinators(
        self, groups: Sequence[str], deadline: Deadline
    ) -> tuple[dict[str, int], dict[str, BrokerFailure]]:
        """Broker that coordinates each group, and the groups for which none was found."""
        coordinators: dict[str, int] = {}
        failed: dict[str, BrokerFailure] = {}
        if not groups:
            return coordinators, failed
        left = list(groups)
        async for _ in Attempts(deadline):
            for group, outcome in (await self._find_coordinators(left, deadline)).items():
                if isinstance(outcome, int):
                    coordinators[group] = outcome
                    failed.pop(group, None)
                else:
                    failed[group] = outcome
            left = [group for group, error in failed.items() if error.code in RETRIABLE]
            if not left:
                break
        self.placed |= coordinators
        return coordinators, failed

    async def known_coordinators(
        self, groups: Sequence[str], deadline: Deadline
    ) -> tuple[dict[str, int], dict[str, BrokerFailure]]:
        """The same, but what was learned before is believed, and where Metadata says that groups
        live: for questions that are put again after `NOT_COORDINATOR`, to coordinators looked up
        anew.
        """
        places = {group: self.placed.get(group, self._leader_for(group)) for group in groups}
        placed = {group: broker for group, broker in places.items() if broker in self.brokers}
        strangers = [group for group in groups if group not in placed]
        coordinators, failed = await self.coordinators(strangers, deadline)
        return placed | coordinators, failed

    def _leader_for(self, group: str) -> int:
        """Broker that leads the group's partition of `__consumer_offsets`; -1 for none known."""
        if not self.offsets_partitions:
            return -1
        number = offsets_partition(group, self.offsets_partitions)
        return self.offsets_leaders.get(number, (-1, -1))[0]

    async def _find_coordinators(
        self, groups: Sequence[str], deadline: Deadline
    ) -> dict[str, int | BrokerFailure]:
        """One look-up of all groups, in one request where the broker can (version 4 on)."""
        failure = BrokerFailure("BROKER_NOT_AVAILABLE", "no broker is available")
        for broker in list(self.brokers):
            limit = deadline.share(len(self.brokers))
            try:
                connection = await self.connection(broker, limit)
                if (connection.offers(Api.FIND_COORDINATOR) or 0) >= 4:
                    _, answer = await connection.ask(
                        Api.FIND_COORDINATOR, find_coordinator(groups), limit, decode_passing
                    )
                    coordinators = {item.key: _coordinator(item) for item in answer.coordinators}
                    return {group: coordinators.get(group, left_out()) for group in groups}
                questions = [find_coordinator([group]) for group in groups]
                answers = await connection.ask_many(Api.FIND_COORDINATOR, questions, limit)
                for lost in answers:
                    if isinstance(lost, BrokerFailure):
                        raise lost
                return dict(zip(groups, map(_coordinator, answers), strict=True))
            except BrokerFailure as error:
                failure = error
        return dict.fromkeys(groups, failure)

    def _adopt(self, connection: Connection) -> None:
        """Keeps the bootstrap connection as that of the broker which advertises its address."""
        for broker in self.brokers.values():
            if connection.address == address_text((broker.host, broker.port)):
                self._connections[broker.id, 0] = connection
                return
        self._connections[-1, 0] = connection

    def _learn(self, answer: Any) -> None:
        """Brokers, cluster id and the offsets topic; a BrokerFailure where it names no broker."""
        if not answer.brokers:
            hint = "try again in a moment: it may be starting"
            raise BrokerFailure("BROKER_NOT_AVAILABLE", "the broker knows of no broker", hint=hint)
        self.cluster_id = answer.cluster_id or self.cluster_id
        self.brokers = {
            item.node_id: Broker(item.node_id, item.host, item.port, item.rack)
            for item in answer.brokers
        }
        for topic in answer.topics:
            if topic.name == OFFSETS_TOPIC:
                self.has_offsets_topic = (
                    error_name(topic.error_code) != "UNKNOWN_TOPIC_OR_PARTITION"
                )
                self.offsets_partitions = len(topic.partitions) or None
                self.offsets_leaders = {
                    item.partition_index: (item.leader_id, item.leader_epoch)
                    for item in topic.partitions
                }


def _coordinator(item: Any) -> int | BrokerFailure:
    problem = error_name(item.error_code)
    if problem is None:
        return int(item.node_id)
    return BrokerFailure(problem, UNSEEN if problem == "GROUP_AUTHORIZATION_FAILED" else None)


def by_broker(placed: Mapping[str, int]) -> dict[int, list[str]]:
    """Names grouped by the broker they were placed on, in the order given."""
    grouped: dict[int, list[str]] = {}
    for name, broker in placed.items():
        grouped.setdefault(broker, []).append(name)
    return grouped
