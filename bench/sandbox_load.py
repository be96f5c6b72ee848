"""Load for a Kafka cluster under test: heartbeats of one member, and a group of many members.

Only the wire is spoken, so that the same load runs on ours and on any other cluster.
"""

import asyncio
import struct
from dataclasses import dataclass, field

from kgroups.core.protocol.tables.api_keys import Api
from tests.support.protocol.plain import Body
from tests.support.sandbox.frame_client import WireClient, join_body, read_answer, request_frame

MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS = 79, 27
JOIN, SYNC, BEAT = 5, 3, 3
POLL_S = 0.2


class WrongAnswer(RuntimeError):
    """The cluster answered something else than a member may expect."""


def steady_member(client: WireClient, group: str) -> Body:
    """Join alone and sync; the fields of a heartbeat that is answered with 0."""
    first = client.ask(Api.JOIN_GROUP, JOIN, join_body(group, session_timeout_ms=60_000))
    body = join_body(group, session_timeout_ms=60_000, member_id=first["member_id"])
    joined = client.ask(Api.JOIN_GROUP, JOIN, body)
    member: Body = {
        "group_id": group,
        "generation_id": joined["generation_id"],
        "member_id": joined["member_id"],
        "group_instance_id": None,
    }
    assignment = {"member_id": joined["member_id"], "assignment": b"all"}
    client.ask(Api.SYNC_GROUP, SYNC, {**member, "assignments": [assignment]})
    if client.ask(Api.HEARTBEAT, BEAT, member)["error_code"] != 0:
        raise WrongAnswer("the member's first heartbeat")
    return member


def beat(client: WireClient, member: Body, count: int, *, in_flight: int) -> None:
    """Send so many heartbeats, `in_flight` at a time, and read their answers."""
    frame = request_frame(Api.HEARTBEAT, BEAT, member)
    client.socket.settimeout(60)
    client.socket.sendall(frame)
    answer = client.receive_frame()
    size = len(answer) + 4
    for _ in range(count // in_flight):
        client.socket.sendall(frame * in_flight)
        missing = size * in_flight
        while missing:
            missing -= len(client.socket.recv(min(missing, 1 << 16)))
    if read_answer(Api.HEARTBEAT, BEAT, answer)[1]["error_code"] != 0:
        raise WrongAnswer("a heartbeat")


@dataclass(slots=True)
class Crowd:
    """Members that join one group at once until all are in the same generation.

    Args:
        size: how many.
        synced: generation -> members that have their assignment in it.
        settled: set when one generation has them all.
    """

    address: str
    group: str
    size: int
    synced: dict[int, int] = field(default_factory=dict)
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    async def settle(self) -> None:
        """Run the members until they have settled."""
        members = [asyncio.create_task(self._member()) for _ in range(self.size)]
        await asyncio.wait_for(self.settled.wait(), 300)
        for member in members:
            member.cancel()
        await asyncio.gather(*members, return_exceptions=True)

    async def _member(self) -> None:
        host, port = self.address.rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            await self._live(_Line(reader, writer))
        finally:
            writer.close()

    async def _live(self, line: "_Line") -> None:
        """Join, sync, beat, and join again whenever the group rebalances."""
        member_id = ""
        while True:
            body = join_body(
                self.group,
                member_id=member_id,
                session_timeout_ms=60_000,
                rebalance_timeout_ms=60_000,
            )
            joined = await line.ask(Api.JOIN_GROUP, JOIN, body)
            member_id = joined["member_id"]
            if joined["error_code"] == MEMBER_ID_REQUIRED:
                continue
            if joined["error_code"] != 0:
                raise WrongAnswer(f"JoinGroup: {joined['error_code']}")
            generation = joined["generation_id"]
            identity: Body = {
                "group_id": self.group,
                "generation_id": generation,
                "member_id": member_id,
                "group_instance_id": None,
            }
            assignments = [
                {"member_id": one["member_id"], "assignment": b"part"} for one in joined["members"]
            ]
            synced = await line.ask(Api.SYNC_GROUP, SYNC, {**identity, "assignments": assignments})
            if synced["error_code"] == 0:
                self.synced[generation] = self.synced.get(generation, 0) + 1
                if self.synced[generation] == self.size:
                    self.settled.set()
                while (await line.ask(Api.HEARTBEAT, BEAT, identity))["error_code"] == 0:
                    await asyncio.sleep(POLL_S)


class _Line:
    """One connection, asked and answered by turns."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, api: Api, version: int, body: Body) -> Body:
        """Send a request and read its answer."""
        self._writer.write(request_frame(api, version, body))
        head = await self._reader.readexactly(4)
        frame = await self._reader.readexactly(struct.unpack(">i", head)[0])
        return read_answer(api, version, frame)[1]
