"""A listener that speaks Kafka and answers as a test says: for brokers that nobody can start here.

Old versions, errors of the future, coordinators that move, brokers that hang: a real broker of this
year cannot be brought to do these. Everything else is tested against real ones.
"""

import asyncio
import io
import struct
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from kgroups.core.protocol.frames import write_response
from kgroups.core.protocol.tables.api_keys import Api
from tests.support.hostile.loopback_server import LoopbackServer, read_frame
from tests.support.protocol.plain import as_message
from tests.support.protocol.spoken_apis import APIS, NEWER_THAN_KIO, schema

Answer = Callable[[int, Any], Any]
"""From version and request to the fields of the answer, or to raw bytes of it."""

NO_WAIT = timedelta(0)
NAMES = {api.key: name for name, api in APIS.items()}
KIO_KNOWS = {api.name.lower(): newer - 1 for api, newer in NEWER_THAN_KIO}
"""Highest versions that kio has, where ours are higher; answers to those are plain fields."""


def part(api: str, version: int, class_name: str, **fields: object) -> Any:
    """A struct of an answer; fields that the version lacks are left out."""
    return _fill(getattr(schema(api, version, "response"), class_name), fields)


def _fill(kind: Any, fields: Mapping[str, Any]) -> Any:
    """kio's struct; error numbers become its enum."""
    from kio.schema.errors import ErrorCode

    return kind(
        **{
            name: ErrorCode(value) if name == "error_code" else value
            for name, value in fields.items()
            if name in kind.__dataclass_fields__
        }
    )


class ScriptedBroker(LoopbackServer):
    """Answers until it is left.

    Args:
        answers: API name to its answer; what is not here hangs.
        caps: API name to the highest version offered; others offer what we and kio know.
    """

    def __init__(
        self, answers: Mapping[str, Answer], caps: Mapping[str, int] | None = None
    ) -> None:
        super().__init__()
        self.answers = dict(answers)
        self.seen: list[tuple[str, int, Any]] = []
        self._caps = KIO_KNOWS | dict(caps or {})

    def count(self, api: str) -> int:
        """How often an API was asked."""
        return sum(name == api for name, _, _ in self.seen)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer each request, or let it hang."""
        while True:
            answer = self._answer(await read_frame(reader))
            if answer is not None:
                writer.write(struct.pack(">i", len(answer)) + answer)

    def _answer(self, frame: bytes) -> bytes | None:
        from kio.serial import entity_reader, entity_writer

        key, version, correlation_id, name_size = struct.unpack_from(">hhih", frame)
        api = NAMES[key]
        if version > KIO_KNOWS.get(api, version):
            self.seen.append((api, version, None))
            answer = as_message(self.answers[api](version, None))
            return bytes(write_response(Api(key), version, correlation_id, answer)[4:])
        module = schema(api, version, "request")
        words = "".join(word.capitalize() for word in api.split("_"))
        kind = getattr(module, f"{words}Request")
        start = 10 + name_size + (1 if kind.__header_schema__.__version__ >= 2 else 0)
        request, _ = entity_reader(kind)(frame, start)
        self.seen.append((api, version, request))
        answer_kind = getattr(schema(api, version, "response"), f"{words}Response")
        header = struct.pack(">i", correlation_id)
        header += b"\0" if answer_kind.__header_schema__.__version__ >= 1 else b""
        fields: Any
        if api == "api_versions":
            fields = {
                "error_code": 0,
                "api_keys": self._versions(version),
                "throttle_time": NO_WAIT,
            }
        elif api not in self.answers:
            return None
        else:
            fields = self.answers[api](version, request)
        if isinstance(fields, bytes):
            return header + fields
        buffer = io.BytesIO()
        message = _fill(answer_kind, fields)
        entity_writer(answer_kind)(buffer, message)
        return header + buffer.getvalue()

    def _versions(self, version: int) -> tuple[Any, ...]:
        return tuple(
            part(
                "api_versions",
                version,
                "ApiVersion",
                api_key=api.key,
                min_version=min(api.lowest, self._caps.get(name, api.highest)),
                max_version=self._caps.get(name, api.highest),
            )
            for name, api in APIS.items()
            if self._caps.get(name, 0) >= 0
        )
