"""`--to next` and `--to first`: offsets past records that groups would read, found by reading."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from kgroups.cli.commands.writes.writing import Run
from kgroups.cli.output.progress import progress_bar
from kgroups.cli.usage import Text, option
from kgroups.core.counts import count_of
from kgroups.core.errors import ItemError, NotFoundError, RefusedError, UsageError, counted
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_search import Passed, pass_records
from kgroups.core.kafka.lookups.record_walk import Allowance, Stand, read_each, unread_error
from kgroups.core.lag.rules import Isolation
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.plan_file import Offsets
from kgroups.core.offsets.reset import committed
from kgroups.core.offsets.scope import log_of
from kgroups.core.offsets.targets import Target
from kgroups.core.protocol.batches import Record
from kgroups.core.snapshot import Group, Topic, TopicPartition
from kgroups.core.times import duration_hint, duration_ms, timestamp

WhereHeader = Annotated[Text, option("--where-header NAME=VALUE", "With --to first: by a header.")]
WhereKey = Annotated[Text, option("--where-key TEXT", "With --to first: by its key.")]
Limit = Annotated[Text, option("--limit N", "Records to look at (1m), or a time: 30s.")]
View = Annotated[
    Isolation,
    option("--isolation LEVEL", "View of transactions (read_committed).", show_default=False),
]
MOST_RECORDS: Final = 1_000_000
MOST_BYTES: Final = 16 << 30
MOST_MS: Final = 600_000
NAMED: Final = 3

_ENDS: Final = {
    "log_end": "the log ends at {offset}",
    "open_transaction": "a transaction is open from {offset} on",
    "beyond_end": "the commit lies beyond the end of the log",
    "limit": "looked up to {offset}{last}, as far as --limit allows",
}


@dataclass(frozen=True, slots=True)
class Search:
    """Search for records, with its bounds.

    Args:
        number: records to pass; None: up to the first one that fits.
        header: that it has: name and value.
    """

    number: int | None
    key: tuple[bytes, ...] = ()
    header: tuple[bytes, bytes] | None = None
    limit: int = MOST_RECORDS
    limit_ms: int = MOST_MS
    isolation: Isolation = "read_committed"

    def fits(self, record: Record) -> bool:
        """Whether it is such a record."""
        return (not self.key or record.key in self.key) and (
            self.header is None or self.header in record.headers
        )


def search_of(
    target: Target, header: str | None, key: str | None, limit: str | None, isolation: Isolation
) -> Search | None:
    """The search that the options ask for; None where the target needs none.

    Raises:
        UsageError: they do not go together, or one cannot be understood.
    """
    wheres = header is not None or key is not None
    if target.kind == "first" and not wheres:
        raise UsageError("--to first requires --where-header or --where-key")
    if wheres and target.kind != "first":
        raise UsageError("--where-header and --where-key require --to first")
    if target.kind not in ("next", "first"):
        if limit is not None:
            raise UsageError("--limit requires --to next or --to first")
        return None
    name, equals, value = (header or "").partition("=")
    if header is not None and not (name and equals):
        raise UsageError(f"`{header}` is not NAME=VALUE")
    most, most_ms = limits_of(limit)
    return Search(
        target.number if target.kind == "next" else None,
        () if key is None else _spellings(key),
        None if header is None else (name.encode(), _spellings(value)[-1]),
        most,
        most_ms,
        isolation,
    )


def limits_of(limit: str | None) -> tuple[int, int]:
    """Records, and milliseconds, that `--limit` allows.

    Raises:
        UsageError: it is neither a number of records nor a time.
    """
    most = MOST_RECORDS if limit is None else count_of(limit)
    most_ms = MOST_MS if most is not None else duration_ms(limit or "")
    if most_ms is None:
        hint = f"records: `500`, `10k`, `1m`; or a time: {duration_hint()}"
        raise UsageError(f"`{limit}` is neither a number of records nor a time", hint=hint)
    return most or MOST_RECORDS, round(most_ms)


def _spellings(text: str) -> tuple[bytes, ...]:
    """A text as bytes, and those that it spells in hex, as `kgroups peek` shows them."""
    found = [text.encode()]
    if text.startswith("0x"):
        with suppress(ValueError):  # a text that begins so
            found.append(bytes.fromhex(text[2:]))
    return tuple(found)


def passed_by(
    run: Run,
    group: Group,
    partitions: Iterable[TopicPartition],
    topics: Mapping[str, Topic],
    search: Search,
) -> dict[TopicPartition, Passed | str]:
    """Records the search passes by partition, or why it cannot be read; the time is not counted.

    Partitions without a commit or a known log are absent.

    Raises:
        ClusterError: the cluster cannot be reached.
    """
    stands: dict[TopicPartition, Stand] = {}
    for at in partitions:
        commit, log = committed(group, at), log_of(topics, at)
        if commit is None or log is None or log.error is not None:
            continue
        if log.log_start_offset is not None and log.log_end_offset is not None:
            stands[at] = Stand(commit.offset, log.log_start_offset, log.log_end_offset)
    until = Deadline.after(search.limit_ms)
    allowance = Allowance(search.limit, MOST_BYTES, until)
    grace = Deadline.after(search.limit_ms + run.printer.options.timeout_ms)

    def progress() -> None:
        looked = search.limit - allowance.records
        run.printer.progress(progress_bar("looking at records", looked, search.limit))

    async def read(log: OffsetsLog, stand: Stand) -> Passed:
        return await pass_records(log, stand, allowance, search.number, search.fits, progress)

    with run.admin.ends().stopped():
        return read_each(run.admin, topics, stands, read, isolation=search.isolation, until=grace)


def offsets_of(group: Group, found: Mapping[TopicPartition, Passed | str]) -> Offsets:
    """Where each partition is to be put; it stays where the search did not find its end."""
    return {
        at: passed.offset if isinstance(passed, Passed) and passed.end is None else commit.offset
        for at, passed in found.items()
        if (commit := committed(group, at)) is not None
    }


def with_passed(change: Change, passed: Passed | str | None, search: Search) -> Change:
    """The change with what it passes, or failed where the search did not find its end."""
    if passed is None or change.topic is None or change.partition is None:
        return change
    if isinstance(passed, str):
        error = unread_error((change.topic, change.partition), passed)
        return change.failed(replace(error, target=change.target))
    end = passed.end
    if end is None:
        return change._replace(note="; ".join(filter(None, (skips_text(passed), change.note))))
    last = "" if passed.last_ms is None else f" (written {timestamp(passed.last_ms)})"
    where = _ENDS[end.reason].format(offset=end.offset, last=last)
    looked = counted(passed.record_count, "record")
    if search.number is None:
        text = f"no such record among {looked}: {where}"
        code, exit_code = "NOT_FOUND", NotFoundError.exit_code
    elif not passed.record_count and end.reason == "log_end":
        return change._replace(new=change.old, result="skipped", note=f"no record to skip: {where}")
    else:
        text = f"only {passed.record_count:,} of {counted(search.number, 'record')} found: {where}"
        code, exit_code = "TOO_FEW_RECORDS", RefusedError.exit_code
    return change.failed(ItemError(change.target, code, text, None, exit_code))


def skips_text(passed: Passed) -> str:
    """`skips 1 record: 1500 (written 2026-…, key of 12 bytes)`, of many the first few."""
    named = ", ".join(map(_record_text, passed.kept[:NAMED]))
    more = passed.record_count - NAMED
    count = counted(passed.record_count, "record")
    return f"skips {count}" + (f": {named}" if named else "") + (f", {more:,} more" * (more > 0))


def _record_text(record: Record) -> str:
    key = "no key" if record.key is None else f"key of {counted(len(record.key), 'byte')}"
    written = f"written {timestamp(record.timestamp_ms)}, " if record.timestamp_ms >= 0 else ""
    return f"{record.offset} ({written}{key})"


def passed_items(passed: Passed | str | None) -> dict[str, Any]:
    """The records that are passed, at most a hundred, as the item of a change has them."""
    if not isinstance(passed, Passed):
        return {}
    return {
        "passed_record_count": passed.record_count,
        "passed_records": [
            {
                "offset": record.offset,
                "written_at": timestamp(record.timestamp_ms) if record.timestamp_ms >= 0 else None,
                "key_size": None if record.key is None else len(record.key),
                "value_size": None if record.value is None else len(record.value),
            }
            for record in passed.kept
        ],
    }
