"""`kgroups peek`: the records that a group reads next."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from kgroups.cli.commands.peek.record_items import VIEW, record_items
from kgroups.cli.commands.peek.record_values import SHOWN_BYTES, ValueReader
from kgroups.cli.exits import end_with, now_ms
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.outlet import check_place
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.progress import progress_bar
from kgroups.cli.output.table import Item
from kgroups.cli.params import GlobalOptions, options_of
from kgroups.cli.source import cluster, snapshot_of
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.counts import parse_count
from kgroups.core.errors import (
    ItemError,
    NotFoundError,
    RefusedError,
    UsageError,
    counted,
)
from kgroups.core.input_files.files import whole_file
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_walk import (
    Allowance,
    End,
    Spot,
    Stand,
    around_commit,
    read_each,
    unread_error,
)
from kgroups.core.lag.group_lag import OffsetRow, offset_rows
from kgroups.core.lag.rules import Isolation
from kgroups.core.offsets.scope import Scope, parse_scope, unmeasured
from kgroups.core.protocol.batches import Record
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition
from kgroups.core.times import parse_duration_ms

SCHEMA = "kgroups.peek/1"
HELP = """Show the records that a group reads next.

Of each partition that the group has committed: the first record from the
committed offset on, when it was written, its key, headers and size, and who
owns the partition. --stuck takes only partitions whose commit stands still
over --over while a record waits; --around 3 adds three records on each side.
Nothing is committed and no group is joined; READ on the topics is required.

Values are hidden unless --show-values is given, which a context may forbid
(`values: never`). --raw FILE writes the value of the one record shown.

EXAMPLES
  kgroups peek billing
  kgroups peek billing --stuck
  kgroups peek billing --topic orders:3 --around 2 --show-values
  kgroups peek billing --topic orders:3 --raw value.bin
  kgroups peek billing -o json | jq '.items[] | select(.kind == "record")'

KINDS
  record  DISTANCE 0 is the next one, -1 the one before it
  gap     no record from OFFSET up to NEXT-OFFSET: `compacted`, `aborted` (its
          transaction was), `control` (a transaction's marker), `deleted`
          (below the log start)
  end     `log_end` all is read; `open_transaction` from here on;
          `beyond_end` the commit lies behind the log; `limit` reached
--isolation read_uncommitted shows what such readers get: aborted records too.

FORMS OF VALUES (--value-as)
  text    its start; hex where it is no text
  json    the whole of it; text where it is no JSON
  hex     the bytes of its start
  others  a decoder: `package.module:function`, or an entry point in the group
          `kgroups.decoders`: a function of the value's bytes and the topic
"""


def peek(
    ctx: typer.Context,
    group: Annotated[str, argument("GROUP", "Group name.")],
    topic: Annotated[Texts, option("--topic TOPIC", "Topic, or partitions: orders:0,3-5.")] = None,
    stuck: Annotated[bool, option("--stuck", "Only partitions whose commit stands still.")] = False,
    over: Annotated[str, option("--over TIME", "How long --stuck watches.")] = "10s",
    around: Annotated[
        int, option("--around N", "Records on each side, too.", min=0, max=1_000)
    ] = 0,
    show_values: Annotated[bool, option("--show-values", "Show values, too.")] = False,
    value_as: Annotated[Text, option("--value-as FORM", "text, json, hex or a decoder.")] = None,
    value_bytes: Annotated[str, option("--value-bytes N", "Most of a value as text or hex.")] = str(
        SHOWN_BYTES
    ),
    raw: Annotated[Path | None, option("--raw FILE", "Write the one value to a file.")] = None,
    isolation: Annotated[
        Isolation, option("--isolation", "Whose view of transactions.")
    ] = "read_committed",
    limit: Annotated[str, option("--limit N", "Read at most so many records.")] = "10k",
    max_bytes: Annotated[
        str, option("--max-bytes N", "Fetch at most about so many bytes.")
    ] = "256m",
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    _check_values(options, value_as, show_values=show_values, raw=raw)
    reader = ValueReader(value_as or "text" if show_values else None, parse_count(value_bytes))
    allowance = Allowance(parse_count(limit), parse_count(max_bytes))
    scope = parse_scope(topic or ())
    over_ms = round(parse_duration_ms(over, least_ms=100, most_ms=24 * 3_600_000))
    with cluster(options) as admin:
        looked, stood = _look(printer, admin, group), None
        if stuck:
            printer.progress(f"looking again in {over_ms / 1_000:g} s")
            printer.rest(over_ms / 1_000)
            stood, looked = looked, _look(printer, admin, group)
        rows, errors = _chosen(looked, looked.needed(group), scope)
        if stood is not None:
            rows = _standing(rows, offset_rows(stood, stood.needed(group)))
        stands = {
            (row.topic, row.partition): Stand(
                row.committed_offset or 0,
                row.log_start_offset or 0,
                row.log_end_offset or 0,
                around,
            )
            for row in rows
        }
        read, failures = _read(printer, admin, looked, stands, allowance, isolation)
    errors += failures
    if stuck:
        read = {at: spots for at, spots in read.items() if _holds_a_reader(spots)}
    if raw is not None and not errors:
        _write_raw(printer, raw, [s for spots in read.values() for s in spots])
    items: list[Item] = []
    for row in rows:
        for item, error in record_items(
            row, read.get((row.topic, row.partition), ()), reader, now_ms()
        ):
            items.append(item)
            errors += [] if error is None else [error]
    _tell(printer, items, stuck=stuck, hidden=not show_values and raw is None)
    printer.show(
        Report.of(
            looked,
            SCHEMA,
            items,
            (VIEW,),
            generated_at_ms=now_ms(),
            errors=errors,
            summary=lambda: {
                "partitions": len(read),
                **{f"{kind}s": sum(item["kind"] == kind for item in items) for kind in KINDS},
            },
        )
    )
    end_with(errors)


KINDS: Final = ("record", "gap", "end")


def _check_values(
    options: GlobalOptions, value_as: str | None, *, show_values: bool, raw: Path | None
) -> None:
    """See that values may be shown.

    Raises:
        RefusedError: the context forbids it.
        UsageError: it is said how, but not that; the file cannot be written.
    """
    context = options.context
    if (show_values or raw) and context is not None and context.values == "never":
        raise RefusedError(
            f"context `{context.name}` forbids showing values (`values: never`)",
            hint="leave out --show-values and --raw",
            code="VALUES_FORBIDDEN",
        )
    if value_as is not None and not show_values:
        raise UsageError("--value-as requires --show-values")
    if raw is not None:
        check_place(raw)


def _look(printer: Printer, admin: ClusterAdmin, group: str) -> ClusterSnapshot:
    return snapshot_of(admin, [group], progress=printer.progress)


def _chosen(
    looked: ClusterSnapshot, group: Group, scope: Scope
) -> tuple[list[OffsetRow], list[ItemError]]:
    """The partitions that can be read, and why others that were asked for cannot.

    Raises:
        RefusedError: the group is one that commits nothing.
    """
    if group.type == "share":
        raise RefusedError(
            "share groups have no next record",
            code="INVALID_GROUP_TYPE",
        )
    chosen: list[OffsetRow] = []
    errors: list[ItemError] = []
    seen: set[str | TopicPartition] = set()
    for row in offset_rows(looked, group):
        at = row.topic, row.partition
        if scope.names and not scope.holds(at):
            continue
        seen |= {row.topic, at}
        if row.committed_offset is None:
            errors += [_uncommitted(f"{row.topic}-{row.partition}")] if scope.names else []
        elif row.error is not None or row.log_start_offset is None or row.log_end_offset is None:
            code = row.error or "LEADER_NOT_AVAILABLE"
            errors.append(unmeasured(f"{row.topic}-{row.partition}", code))
        else:
            chosen.append(row)
    errors += [_uncommitted(name) for name in scope.topics if name not in seen]
    errors += [_uncommitted(f"{at[0]}-{at[1]}") for at in scope.partitions if at not in seen]
    return chosen, errors


def _standing(rows: Sequence[OffsetRow], before: Sequence[OffsetRow]) -> list[OffsetRow]:
    """The partitions whose commit is that of the look before, while records waited at both."""
    stood = {(row.topic, row.partition): row.committed_offset for row in before if row.lag}
    return [r for r in rows if r.lag and stood.get((r.topic, r.partition)) == r.committed_offset]


def _uncommitted(target: str) -> ItemError:
    return ItemError(
        target,
        "NO_COMMITTED_OFFSET",
        "the group has no committed offset there",
        "`kgroups describe GROUP` shows its commits",
        NotFoundError.exit_code,
    )


def _read(
    printer: Printer,
    admin: ClusterAdmin,
    looked: ClusterSnapshot,
    stands: Mapping[TopicPartition, Stand],
    allowance: Allowance,
    isolation: Isolation,
) -> tuple[dict[TopicPartition, Sequence[Spot]], list[ItemError]]:
    """The records at each commit; partitions that could not be read."""
    done = 0

    async def one(log: OffsetsLog, stand: Stand) -> list[Spot]:
        nonlocal done
        spots = await around_commit(log, stand, allowance)
        done += 1
        printer.progress(progress_bar("reading partitions", done, len(stands)))
        return spots

    answers = read_each(admin, looked.topics, stands, one, isolation=isolation)
    errors = [unread_error(at, code) for at, code in answers.items() if isinstance(code, str)]
    return {at: spots for at, spots in answers.items() if not isinstance(spots, str)}, errors


def _holds_a_reader(spots: Sequence[Spot]) -> bool:
    """Whether something is there to be stuck on: gaps up to the log's end hold nobody."""
    return any(
        isinstance(spot, Record) or (isinstance(spot, End) and spot.reason != "log_end")
        for spot in spots
    )


def _write_raw(printer: Printer, path: Path, spots: Sequence[Spot]) -> None:
    """Write the value of the one record.

    Raises:
        UsageError: there are several, or none; the file cannot be written.
        NotFoundError: the record has no value.
    """
    records = [spot for spot in spots if isinstance(spot, Record)]
    if len(records) != 1:
        raise UsageError(
            f"--raw writes one value, and {counted(len(records), 'record')} would be shown",
            hint="name a partition with --topic orders:3, and leave out --around",
        )
    value = records[0].value
    if value is None:
        raise NotFoundError("the record has no value: it is a tombstone", code="NO_VALUE")
    try:
        with whole_file(path) as file:
            file.write(value)
    except OSError as error:
        raise UsageError(f"the value cannot be written to `{path}`: {error.strerror}") from error
    printer.note("VALUE_SAVED", f"{counted(len(value), 'byte')} written to `{path}`", str(path))


def _tell(printer: Printer, items: Sequence[Item], *, stuck: bool, hidden: bool) -> None:
    if stuck and not items:
        printer.note("NOTHING_STUCK", "no commit stands still before a record")
    if hidden and any(item["value_as"] == "hidden" for item in items):
        printer.note("VALUES_HIDDEN", "values are hidden; --show-values shows them")
    cut = sum(item["reason"] == "limit" for item in items)
    if cut:
        text = f"{counted(cut, 'partition')} not read to the end; increase --limit or --max-bytes"
        printer.note("LIMIT_REACHED", text)
