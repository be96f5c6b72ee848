"""Clusters that one had better not meet: nobody there, no answer, garbage, no rights."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from random import Random
from typing import Final

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_rules import Fault
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.endings.world import CLIENT, free_port
from tests.support.hostile.scripted_broker import Answer as ScriptedAnswer
from tests.support.hostile.scripted_broker import ScriptedBroker
from tests.support.kafka.waiting import LIFE_S, wait_for_thread

Answer = Callable[[Random, bytes], bytes]
"""From a request, its length included, to what is sent back."""


def _noise(random: Random, _request: bytes) -> bytes:
    return random.randbytes(random.randrange(1, 5_000))


def _framed_noise(random: Random, request: bytes) -> bytes:
    body = request[8:12] + random.randbytes(random.randrange(0, 5_000))
    return struct.pack(">i", len(body)) + body


def _length(random: Random, request: bytes) -> bytes:
    length = random.choice([0, -1, -(2**31), 2**31 - 1, 3, 100_000_000])
    return struct.pack(">i", length) + request[8:12]


def _other_answer(_random: Random, request: bytes) -> bytes:
    body = struct.pack(">i", 2**31 - 1) + bytes(40)
    return struct.pack(">i", len(body)) + body


def _web_page(_random: Random, _request: bytes) -> bytes:
    return b"HTTP/1.1 400 Bad Request\r\nContent-Length: 11\r\n\r\nBad Request"


def _alert(_random: Random, _request: bytes) -> bytes:
    return b"\x15\x03\x03\x00\x02\x02\x28"


def _echo(_random: Random, request: bytes) -> bytes:
    return request


def _nothing(_random: Random, _request: bytes) -> bytes:
    return b""


GARBAGE: Final[tuple[Answer, ...]] = (
    _noise,
    _framed_noise,
    _length,
    _other_answer,
    _web_page,
    _alert,
    _echo,
    _nothing,
)


@contextmanager
def unreachable(_random: Random) -> Iterator[str]:
    """A port where nobody listens."""
    yield f"127.0.0.1:{free_port()}"


@contextmanager
def black_hole(_random: Random) -> Iterator[str]:
    """A port where connections are taken, and nothing ever comes."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=1_000)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def garbage(random: Random) -> Iterator[str]:
    """A server that answers with bytes that mean nothing, and then hangs up or waits."""
    answer, hangs_up = random.choice(GARBAGE), random.random() < 0.5
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        open_ = _Connections()
        server.settimeout(LIFE_S)

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client, _ = server.accept()
                    open_.add(client)
                    threading.Thread(target=talk, args=(client,), daemon=True).start()

        def talk(client: socket.socket) -> None:
            with suppress(OSError):
                while request := client.recv(65_536):
                    client.sendall(answer(random, request))
                    if hangs_up:
                        break
            if hangs_up:
                client.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        wait_for_thread(thread)  # before its descriptor is another socket's
    open_.close()


class _Connections:
    def __init__(self) -> None:
        self._all: list[socket.socket] = []

    def add(self, client: socket.socket) -> None:
        client.settimeout(120)
        self._all.append(client)

    def close(self) -> None:
        for client in self._all:
            client.close()


@contextmanager
def wrong_password(_random: Random) -> Iterator[str]:
    """A broker that knows another password: it asks for one, and lets nobody in with ours."""
    answers: dict[str, ScriptedAnswer] = {
        "sasl_handshake": lambda _version, _request: {"error_code": 0, "mechanisms": ("PLAIN",)},
        "sasl_authenticate": lambda _version, _request: {
            "error_code": SASL_AUTHENTICATION_FAILED,
            "error_message": "Authentication failed: Invalid username or password",
            "auth_bytes": b"",
        },
    }
    with ScriptedBroker(answers) as broker:
        yield broker.address


OF_GROUPS: Final = (
    Api.FIND_COORDINATOR,
    Api.DESCRIBE_GROUPS,
    Api.CONSUMER_GROUP_DESCRIBE,
    Api.OFFSET_FETCH,
    Api.OFFSET_COMMIT,
    Api.OFFSET_DELETE,
    Api.DELETE_GROUPS,
    Api.LEAVE_GROUP,
)
SASL_AUTHENTICATION_FAILED: Final = 58
GROUP_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED = 30, 31
TOPIC_AUTHORIZATION_FAILED: Final = 29


@contextmanager
def without_rights(sandbox: Sandbox) -> Iterator[str]:
    """The embedded cluster, which lets the program do nothing at all."""
    codes = dict.fromkeys(OF_GROUPS, GROUP_AUTHORIZATION_FAILED) | {
        Api.LIST_GROUPS: CLUSTER_AUTHORIZATION_FAILED,
        Api.LIST_OFFSETS: TOPIC_AUTHORIZATION_FAILED,
        Api.DELETE_RECORDS: TOPIC_AUTHORIZATION_FAILED,
    }
    for api, code in codes.items():
        sandbox.add_fault(Fault(api=api, client=CLIENT, action=code, times=None))
    try:
        yield sandbox.bootstrap_servers
    finally:
        sandbox.clear_faults()
