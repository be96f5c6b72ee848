"""JSON files with a row a line: undo files and saved plans, read within bounds.

A file is made by whoever holds it, so nothing in it is believed before it was looked at.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Final

from kgroups.core.imports.orjson_import import orjson
from kgroups.core.uuids import parse_uuid

MAX_ROWS: Final = 400_000
MAX_BYTES: Final = 128 << 20
"""With these no file takes more than some seconds and 400 MB to read."""

WHOLE_BYTES: Final = 8 << 20
"""Up to here any layout of the JSON is read; beyond, only a row a line, as it was written."""

MAX_LINE_BYTES: Final = 1 << 20
MAX_NAME_BYTES: Final = 32_767  # of a string in Kafka's protocol
MAX_INT32: Final = 2**31 - 1

_SHOWN: Final = 40


class WrongFile(Exception):
    """What is wrong with a file, to be said after `… is not an undo file: `."""


class RowFile:
    """The parts of such a file: a head, rows, and what stands behind them.

    Args:
        file: from its start; it can be wound back.
        tail_keys: fields that stand behind the rows.
    Attributes:
        head: the fields before the rows.
        tail: those behind them; complete when all rows have been taken.
    Raises:
        WrongFile: it is no object with rows.
    """

    def __init__(self, file: BinaryIO, tail_keys: frozenset[str]) -> None:
        start = file.read(WHOLE_BYTES + 1)
        is_whole = len(start) <= WHOLE_BYTES
        if is_whole:
            document = parse_json(start, "it")
        else:
            file.seek(0)
            document = parse_json(file.readline(WHOLE_BYTES).rstrip() + b"]}", "its first line")
        rows = document.pop("rows", None) if isinstance(document, dict) else None
        if not isinstance(rows, list):
            raise WrongFile("it has no `rows`")
        self.tail: dict[str, Any] = {key: document.pop(key) for key in tail_keys & document.keys()}
        self.head: dict[str, Any] = document
        self._rows: Iterable[Any] = rows if is_whole else self._lines(file)

    def rows(self) -> Iterator[Any]:
        """The rows, once.

        Raises:
            WrongFile: there are too many, or one cannot be read.
        """
        for number, row in enumerate(self._rows, 1):
            if number > MAX_ROWS:
                raise WrongFile(f"it has more than {MAX_ROWS:,} rows")
            yield row

    def _lines(self, file: BinaryIO) -> Iterator[Any]:
        """The rows of a file that is too long to be held at once."""
        read = 0
        while line := file.readline(MAX_LINE_BYTES):
            read += len(line)
            text = line.strip()
            if text.startswith(b"]"):
                last = parse_json(b'{"rows": [' + text, "its last line")
                del last["rows"]
                self.tail |= last
                if file.read(1):
                    raise WrongFile("there is text after its end")
                return
            if len(line) == MAX_LINE_BYTES or read > MAX_BYTES:
                raise WrongFile("it is too long")
            yield parse_json(text.removesuffix(b","), "one of its lines")
        raise WrongFile("its end is missing")


def parse_json(data: bytes, what: str) -> Any:
    """JSON by the book: no half surrogates, no endless nesting.

    Raises:
        WrongFile: it is none.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise WrongFile(f"{what} is not JSON ({error.msg})") from error


def check_keys(document: Mapping[str, Any], keys: frozenset[str]) -> None:
    """See that an object has these fields and no others.

    Raises:
        WrongFile: it has not.
    """
    odd_keys = document.keys() ^ keys
    if odd_keys:
        odd = min(odd_keys)
        raise WrongFile(
            f"{shown(odd)} is {'not one of its fields' if odd in document else 'missing'}"
        )


def topic_ids_of(ids: Any) -> dict[str, str]:
    """Ids by topic; those that are not known are left out.

    Raises:
        WrongFile: it is something else.
    """
    if not isinstance(ids, dict):
        raise WrongFile(f"its `topic_ids` are {shown(ids)}")
    return {topic: _uuid(text) for topic, text in ids.items() if text is not None}


def _uuid(text: Any) -> str:
    try:
        return parse_uuid(text)
    except (ValueError, TypeError) as error:
        raise WrongFile(f"{shown(text)} is not a topic id") from error


def is_count(value: Any, most: int) -> bool:
    """Whether it is a whole number from 0 on."""
    return type(value) is int and 0 <= value <= most


def is_name(value: Any) -> bool:
    """Whether it is text that fits into a string of Kafka's protocol, and not empty."""
    if type(value) is not str or not value:
        return False
    return len(value) * 4 <= MAX_NAME_BYTES or len(value.encode()) <= MAX_NAME_BYTES


def shown(value: Any) -> str:
    """A value in a message: short, whatever it is."""
    text = repr(value)[1:-1] if isinstance(value, str) else repr(value)
    return f"`{text[:_SHOWN]}{'…' * (len(text) > _SHOWN)}`"
