"""A listener that speaks Kafka and answers as a test says: for brokers that nobody can start here.

Old versions, errors of the future, coordinators that move, brokers that hang: a real broker of this
year cannot be brought to do these. Everything else is tested against real ones.
"""

import asyncio
import struct
from collections.abc import Callable, Mapping
from typing import Any

from kgroups.core.protocol.frames import read_header, read_request, write_response
from kgroups.core.protocol.tables.api_keys import Api
from tests.support.hostile.loopback_server import LoopbackServer, read_frame
from tests.support.protocol.plain import as_message
from tests.support.protocol.spoken_apis import APIS

Answer = Callable[[int, Any], Any]
"""From version and request to the fields of the answer, or to raw bytes of it."""


class ScriptedBroker(LoopbackServer):
    """Answers until it is left.

    Args:
        answers: API name to its answer; what is not here hangs.
        caps: API name to the highest version offered; others offer what we know.
    """

    def __init__(
        self, answers: Mapping[str, Answer], caps: Mapping[str, int] | None = None
    ) -> None:
        super().__init__()
        self.seen: list[tuple[str, int, Any]] = []
        offered = {name: api.highest for name, api in APIS.items()} | dict(caps or {})
        rows = [
            {
                "api_key": APIS[name].key,
                "min_version": min(APIS[name].lowest, highest),
                "max_version": highest,
            }
            for name, highest in offered.items()
            if highest >= 0
        ]
        versions = {"error_code": 0, "api_keys": rows, "throttle_time_ms": 0}
        self.answers: dict[str, Answer] = {"api_versions": lambda *_: versions, **answers}

    def count(self, api: str) -> int:
        """How often an API was asked."""
        return sum(name == api for name, _, _ in self.seen)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer each request, or let it hang."""
        while True:
            frame = await read_frame(reader)
            header = read_header(frame)
            _, request = read_request(frame, header)
            name = Api(header.api).name.lower()
            self.seen.append((name, header.version, request))
            if name not in self.answers:
                continue
            answer = self.answers[name](header.version, request)
            if isinstance(answer, bytes):  # what follows the header of a flexible version
                body = struct.pack(">ib", header.correlation_id, 0) + answer
                writer.write(struct.pack(">i", len(body)) + body)
            else:
                writer.write(write_response(*header, as_message(answer)))
