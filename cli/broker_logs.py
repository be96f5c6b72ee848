"""Brokers' logs, read in a stream: files, compressed ones, and stdin."""

import gzip
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from kgroups.cli.exits import Note
from kgroups.core.errors import UsageError
from kgroups.core.history.broker_log import BrokerLog
from kgroups.core.history.changes import Change
from kgroups.core.input_files.files import regular_file
from kgroups.core.times import show_ms

STDIN: Final = "-"
MOST_BYTES: Final = 1 << 40
LONGEST_LINE: Final = 1 << 16
EXPECTED: Final = "a broker's log, such as server.log"
GZIP: Final = b"\x1f\x8b"
AGREE_MS: Final = 1_000


class ReadLog(NamedTuple):
    """A log that was read, with the name it goes by."""

    name: str
    log: BrokerLog


def check_logs(names: Sequence[str]) -> None:
    """See that stdin is named once at most.

    Raises:
        UsageError: it is named twice.
    """
    if names.count(STDIN) > 1:
        raise UsageError("`-` can be used only once", hint="stdin can be read once")


def read_logs(
    names: Sequence[str],
    changes: Mapping[str, Sequence[Change]],
    epochs: Mapping[int, int | None] | None = None,
) -> list[ReadLog]:
    """Lines of each log about the changes, and of partitions of `__consumer_offsets`.

    Args:
        epochs: of the partitions' leaders.
    Raises:
        UsageError: one cannot be read.
    """
    return [ReadLog(name, _read(name, BrokerLog(changes, epochs))) for name in names]


def _read(name: str, log: BrokerLog) -> BrokerLog:
    if name == STDIN:
        _take_lines(sys.stdin.buffer, log)
        return log
    with regular_file(Path(name), MOST_BYTES, EXPECTED) as file:
        begins = file.read(len(GZIP))
        file.seek(0)
        try:
            _take_lines(gzip.GzipFile(fileobj=file) if begins == GZIP else file, log)
        except (EOFError, zlib.error) as error:
            raise UsageError(
                f"`{name}` cannot be read: {error}", hint=f"expected {EXPECTED}"
            ) from error
    return log


def _take_lines(file: BinaryIO | gzip.GzipFile, log: BrokerLog) -> None:
    while line := file.readline(LONGEST_LINE):
        log.take(line)


def log_notes(logs: Sequence[ReadLog]) -> list[Note]:
    """How many lines of each matched, and how far its clock is off."""
    return [_note(name, log) for name, log in logs]


def _note(name: str, log: BrokerLog) -> Note:
    if not log.matched:
        text = f"`{name}`: no line matches these changes; check its cluster and its time"
        return Note("LOG_UNMATCHED", text, name)
    lines = "1 line matches" if log.matched == 1 else f"{log.matched:,} lines match"
    return Note("LOG_READ", f"`{name}`: {lines}; {_clock(log.apart_ms)}", name)


def _clock(apart_ms: int | None) -> str:
    if apart_ms is None:
        return "the difference of the clocks is unknown"
    if abs(apart_ms) < AGREE_MS:
        return "its clock agrees with the records"
    way = "ahead of" if apart_ms > 0 else "behind"
    return f"its clock is {show_ms(abs(apart_ms))} {way} the records"
