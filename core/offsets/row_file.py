"""JSON files with a row a line: undo files and saved plans, written and read within bounds.

A file is made by whoever holds it, so nothing in it is believed before it was looked at.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, BinaryIO, Final, Protocol, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct

from kgroups.core.errors import shorten
from kgroups.core.offsets.targets import MAX_OFFSET

MAX_ROWS: Final = 400_000
MAX_BYTES: Final = 128 << 20
"""With these no file takes more than some seconds and 400 MB to read."""

WHOLE_BYTES: Final = 2 << 20
"""Up to here any layout of the JSON is read; beyond, only a row a line, as it was written."""

MAX_LINE_BYTES: Final = 1 << 20
TAIL_BYTES: Final = 1_000
"""Room behind the rows, for what became of a write or for a checksum."""

MAX_NAME_BYTES: Final = 32_767  # of a string in Kafka's protocol

Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Offset = Annotated[int, Meta(ge=0, le=MAX_OFFSET)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_BYTES)]
Text = Annotated[str, Meta(max_length=MAX_NAME_BYTES)]


class WrongFile(Exception):
    """Fault of a file, to be said after `… is not an undo file: `."""


class Row(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One row; what it holds beyond its fields is refused."""


class RowDocument(Protocol):
    """A file's struct: its head, the rows not decoded yet, and what stands behind them."""

    rows: list[Raw]


AnyRow = TypeVar("AnyRow", bound=Row)
AnyDocument = TypeVar("AnyDocument", bound=RowDocument)


def check_texts(texts: Iterable[str]) -> None:
    """See that texts fit into strings of Kafka's protocol.

    Raises:
        ValueError: one does not.
    """
    for text in texts:
        if len(text) * 4 > MAX_NAME_BYTES and len(text.encode()) > MAX_NAME_BYTES:
            raise ValueError("a text is longer than any in Kafka")


def document_lines(document: RowDocument, rows: Iterable[Row]) -> Iterator[bytes]:
    """The file but for its end, which is `]}` or holds more fields: a row a line.

    Args:
        document: without rows.
        rows: made while they are written, as they are many.
    Raises:
        WrongFile: it would be longer than any that is read.
    """
    head = msgspec.json.encode(document).removesuffix(b"]}") + b"\n"
    yield head
    size, end = len(head), b""
    for number, row in enumerate(rows):
        line = end + msgspec.json.encode(row)
        size += len(line)
        if number == MAX_ROWS or size + TAIL_BYTES > MAX_BYTES:
            raise WrongFile("it is too long")
        yield line
        end = b",\n"
    yield b"\n"


def read_document(file: BinaryIO, kind: type[AnyDocument]) -> AnyDocument:
    """A file, its rows not decoded yet.

    Args:
        file: from its start; it can be wound back.
    Raises:
        WrongFile: it is no such file, or longer than any.
    """
    data = file.read(WHOLE_BYTES + 1)
    if len(data) <= WHOLE_BYTES:
        return _decoded(data, kind)
    file.seek(0)
    head, size = file.readline(MAX_BYTES), 0
    lines: list[bytes] = []
    while (line := file.readline(MAX_LINE_BYTES)) and not line.startswith(b"]"):
        size += len(line)
        if len(line) == MAX_LINE_BYTES or len(lines) == MAX_ROWS or size > MAX_BYTES:
            raise WrongFile("it is too long")
        lines.append(line.rstrip().removesuffix(b","))
    if file.read(1):
        raise WrongFile("there is text after its end")
    document = _decoded(head + line, kind)
    document.rows = [Raw(line) for line in lines]
    return document


def read_rows(rows: Iterable[Raw], kind: type[AnyRow]) -> Iterator[AnyRow]:
    """The rows, one after the other.

    Raises:
        WrongFile: one is not of this kind.
    """
    decoder = msgspec.json.Decoder(kind)
    for number, raw in enumerate(rows, 1):
        if number > MAX_ROWS or len(memoryview(raw)) > MAX_LINE_BYTES:
            raise WrongFile("it has too many rows, or too long ones")
        try:
            yield decoder.decode(raw)
        except (ValueError, RecursionError) as error:
            raise WrongFile(f"row {number}: {_reason(error)}") from error


def _decoded(data: bytes, kind: type[AnyDocument]) -> AnyDocument:
    try:
        return msgspec.json.decode(data, type=kind)
    except (ValueError, RecursionError) as error:
        raise WrongFile(_reason(error)) from error


def _reason(error: Exception) -> str:
    """Why JSON is not what it should be: short, whatever the file holds."""
    text = repr(str(error))[1:-1]
    return shorten(text if text.startswith("JSON") else text[:1].lower() + text[1:], 120)
