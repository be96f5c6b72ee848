"""A coordinator of one real member, which it lets lead groups that are made up.

librdkafka shows its assignors to nobody but a group's leader. So a real consumer joins here, is
made the leader, and finds in each JoinGroup answer the members of the next group to be decided.
Its SyncGroup is the answer. What it gets itself is one partition of a topic of its own, another
one each time: giving the old one up makes it join again at once.
"""

import queue
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from kgroups.assignors.order.scala_order import scala_set_order
from kgroups.assignors.spec import AssignmentRequest, TopicPartitions
from kgroups.assignors.wire import (
    WireAssignment,
    decode_assignment,
    encode_assignment,
)
from kgroups.core.protocol.frames import read_header, read_request, write_response
from kgroups.core.protocol.tables.api_keys import Api
from tests.support.assignors.histories import Plan
from tests.support.assignors.librdkafka_consumer import OWN_TOPIC
from tests.support.assignors.real_clients import subscription_bytes
from tests.support.kafka.waiting import LIFE_S
from tests.support.protocol.plain import Body, as_message, as_plain

VERSIONS = {
    Api.FETCH: (4, 4),
    Api.LIST_OFFSETS: (1, 1),
    Api.METADATA: (1, 4),
    Api.OFFSET_COMMIT: (2, 2),
    Api.OFFSET_FETCH: (1, 1),
    Api.FIND_COORDINATOR: (0, 1),
    Api.JOIN_GROUP: (5, 5),
    Api.HEARTBEAT: (0, 3),
    Api.LEAVE_GROUP: (0, 1),
    Api.SYNC_GROUP: (0, 3),
    Api.API_VERSIONS: (0, 0),
}
UNKNOWN_TOPIC, REBALANCE_IN_PROGRESS, UNSUPPORTED_VERSION = 3, 27, 35
LEADER = "leader-of-made-up-groups"
CLUSTER_ID = "made-up" * 100
"""So long because librdkafka reserves memory by the length of an answer, and too little of it."""

NODES: dict[str | None, int] = {None: 1, "a": 2, "b": 3, "c": 4}
"""Brokers by rack."""
ANSWER_S = 60.0


class MadeUpGroups:
    """One broker on loopback that is its own coordinator; a context manager.

    Args:
        protocol: name of the strategy that the groups use.
    """

    def __init__(self, protocol: str) -> None:
        self._protocol = protocol
        self._asked: queue.Queue[AssignmentRequest | None] = queue.Queue()
        self._answers: queue.Queue[Plan | None] = queue.Queue()
        self._now: AssignmentRequest | None = None
        self._generation = 0
        self._settled = False  # the member has taken up what it was given last
        self.joined_with: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(LIFE_S)
        self._open: list[socket.socket] = []
        self.port: int = self._server.getsockname()[1]
        self._handlers: dict[int, Callable[[int, Body], Body | None]] = {
            Api.METADATA: self._metadata,
            Api.FIND_COORDINATOR: self._find_coordinator,
            Api.JOIN_GROUP: self._join_group,
            Api.SYNC_GROUP: self._sync_group,
            Api.HEARTBEAT: self._heartbeat,
            Api.OFFSET_FETCH: self._offset_fetch,
            Api.LEAVE_GROUP: lambda *_: {"throttle_time_ms": 0, "error_code": 0},
        }

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.put(None)
        self._server.close()
        for connection in self._open:
            connection.close()

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self.port}"

    def ask(self, request: AssignmentRequest) -> None:
        """Let the member lead this group next."""
        self._asked.put(request)

    def answer(self, timeout_s: float = ANSWER_S) -> Plan | None:
        """What it decided; None if it went away without.

        Raises:
            queue.Empty: neither happened in time.
        """
        return self._answers.get(timeout=timeout_s)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        stream = connection.makefile("rwb")
        deciding = False
        with suppress(OSError, ValueError, struct.error):
            while head := stream.read(4):
                frame = stream.read(struct.unpack(">i", head)[0])
                answer = self._answered(frame)
                if answer is None:
                    return
                stream.write(answer)
                stream.flush()
                (api,) = struct.unpack_from(">h", frame)
                deciding = api == Api.JOIN_GROUP or (deciding and api != Api.SYNC_GROUP)
        if deciding:
            self._answers.put(None)

    def _answered(self, frame: bytes) -> bytes | None:
        header = read_header(frame)
        api, version, correlation_id = header
        if api == Api.API_VERSIONS:
            body: Body = {
                "error_code": UNSUPPORTED_VERSION if version else 0,
                "api_keys": [
                    {"api_key": int(key), "min_version": low, "max_version": high}
                    for key, (low, high) in VERSIONS.items()
                ],
            }
            return bytes(write_response(api, 0, correlation_id, as_message(body)))
        asked: Body = as_plain(read_request(frame, header)[1])
        answer = self._handlers[Api(api)](version, asked)
        if answer is None:
            return None
        return bytes(write_response(api, version, correlation_id, as_message(answer)))

    def _metadata(self, _version: int, asked: Body) -> Body:
        known = {OWN_TOPIC: TopicPartitions(2)}
        if self._now is not None:
            known.update(self._now.topics)
        names = scala_set_order(one["name"] for one in asked["topics"] or ())
        return {
            "throttle_time_ms": 0,
            "brokers": [
                {"node_id": node, "host": "127.0.0.1", "port": self.port, "rack": rack}
                for rack, node in NODES.items()
            ],
            "cluster_id": CLUSTER_ID,
            "controller_id": 1,
            "topics": [_topic_body(name, known.get(name)) for name in names],
        }

    def _find_coordinator(self, _version: int, _asked: Body) -> Body:
        return {
            "throttle_time_ms": 0,
            "error_code": 0,
            "error_message": None,
            "node_id": 1,
            "host": "127.0.0.1",
            "port": self.port,
        }

    def _join_group(self, _version: int, asked: Body) -> Body | None:
        self.joined_with.append(asked["protocols"][0]["metadata"])
        self._now = self._asked.get(timeout=LIFE_S)
        if self._now is None:
            return None
        self._generation += 1
        return {
            "throttle_time_ms": 0,
            "error_code": 0,
            "generation_id": self._generation,
            "protocol_name": self._protocol,
            "leader": LEADER,
            "member_id": LEADER,
            "members": [
                {
                    "member_id": member.member_id,
                    "group_instance_id": member.instance_id,
                    "metadata": subscription_bytes(member, 3),
                }
                for member in self._now.members
            ],
        }

    def _sync_group(self, _version: int, asked: Body) -> Body:
        plan: dict[str, dict[str, list[int]]] = {}
        for one in asked["assignments"]:
            held = plan[one["member_id"]] = {}
            for topic, numbers in decode_assignment(one["assignment"]).partitions:
                held.setdefault(topic, []).extend(numbers)
        self._answers.put(plan)
        self._settled = False
        own = ((OWN_TOPIC, (self._generation % 2,)),)
        return {
            "throttle_time_ms": 0,
            "error_code": 0,
            "assignment": encode_assignment(WireAssignment(0, own)),
        }

    def _heartbeat(self, _version: int, _asked: Body) -> Body:
        return {"throttle_time_ms": 0, "error_code": REBALANCE_IN_PROGRESS if self._settled else 0}

    def _offset_fetch(self, _version: int, asked: Body) -> Body:
        topics = [
            {
                "name": topic["name"],
                "partitions": [
                    {
                        "partition_index": index,
                        "committed_offset": 0,
                        "metadata": "",
                        "error_code": 0,
                    }
                    for index in topic["partition_indexes"]
                ],
            }
            for topic in asked["topics"]
        ]
        self._settled = True
        return {"topics": topics}


def _topic_body(name: str, topic: TopicPartitions | None) -> Body:
    racks = topic.racks if topic is not None else ()
    return {
        "error_code": UNKNOWN_TOPIC if topic is None else 0,
        "name": name,
        "is_internal": False,
        "partitions": [
            {
                "error_code": 0,
                "partition_index": number,
                "leader_id": -1,
                "replica_nodes": [NODES[rack] for rack in racks[number]] if racks else [],
                "isr_nodes": [],
            }
            for number in range(topic.partitions if topic is not None else 0)
        ],
    }
