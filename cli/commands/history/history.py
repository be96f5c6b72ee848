"""`kgroups history`: what became of groups, out of `__consumer_offsets`."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from kgroups.cli.broker_logs import check_logs, log_notes, read_logs
from kgroups.cli.captures import Captures, read_captures
from kgroups.cli.choosing import exact_names
from kgroups.cli.commands.history.change_text import time_text
from kgroups.cli.commands.history.history_report import (
    GroupHistory,
    change_item,
    explained,
    lines_of,
    summary_of,
    view_of,
)
from kgroups.cli.exits import Note, end_with
from kgroups.cli.group_histories import GroupHistories, read_histories, readers_of
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.pages.render import write_page
from kgroups.cli.params import HtmlFile, options_of
from kgroups.cli.source import cluster, now_ms, unknown_group
from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.extras import require_extra
from kgroups.core.history.causes import with_causes
from kgroups.core.history.reader import HistoryReader
from kgroups.core.kafka.answers import Placement
from kgroups.core.kafka.lookups.group_log import GroupLogs
from kgroups.core.lag.stores.places import Place
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import parse_instant_ms

SCHEMA = "kgroups.history/1"
DENIED = "TOPIC_AUTHORIZATION_FAILED"

HELP = """Show what happened to groups, and why.

Every rebalance is a line: who joined, left or was replaced, the commits in
between, and the cause as far as records tell. Repeated rebalances by one
client are one line; JSON has each. Read from the group's partition of
__consumer_offsets, which requires READ, from its oldest record on; a large
one may take more than the default --timeout. Compaction keeps only the
newest record of a group, which is said where it shows.

Captures of `lag collect` outlive compaction: --captures tells from them what
records no longer do, to within their interval (WITHIN), and all of it where
the cluster cannot be read.

--html writes a page: members from joining to leaving, rebalances, and lag if
there are captures.

Brokers' logs say more: --log reads those of Kafka 2.8 to 4.4, and adds the
reasons of leaves and expired sessions. Their clocks may differ from the
records'; by how much is estimated and said.

Share and streams groups are not covered.

CAUSES
  certain   the records say so
  likely    the pattern is known: silent for as long as the session timeout
  possible  other causes look the same

EXAMPLES
  kgroups history orders-app
  kgroups history orders-app billing --since 2h
  kgroups history orders-app --log server.log --log server.log.1.gz
  kgroups history orders-app --since 7d --captures ~/captures
  kgroups history orders-app --captures ~/captures --html orders-app.html
  kgroups history orders-app --since 2026-11-21T06:00Z --output json
"""


def history(
    ctx: typer.Context,
    groups: Annotated[list[str], typer.Argument(metavar="GROUP...", help="Group names.")],
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="How far back: 24h (default), 7d."),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option("--log", metavar="FILE", help="Read a broker's log too; - for stdin."),
    ] = None,
    captures: Captures = None,
    html: HtmlFile = None,
) -> None:
    """`kgroups history`."""
    if html is not None:
        require_extra("html", "`--html`")
    options = options_of(ctx)
    printer = Printer(options)
    names = list(exact_names(groups))
    check_logs(log or [])
    until_ms = now_ms()
    since_ms = parse_instant_ms(since or "24h", until_ms)
    if captures is None:
        with cluster(options) as admin:
            histories = read_histories(printer, admin, names, since_ms)
    else:
        histories = _with_captures(printer, names, captures, (since_ms, until_ms))
    readers, placement, logs, looks = histories
    if logs is None:
        raise _unread(OFFSETS_TOPIC, DENIED, OFFSETS_TOPIC).as_error()
    errors = _errors(names, placement, logs, readers, captures)
    failed = {error.target for error in errors}
    found = [_history(name, readers[name]) for name in names if name not in failed]
    read = read_logs(log or [], {one.group: one.changes for one in found})
    found = [explained(one, read) for one in found]
    broken = logs.unread.broken
    folded = options.output == "table"
    notes = [*log_notes(read)]
    notes += (n for one in found for n in _notes(one, since_ms, broken.get(one.group, 0)))
    if html is not None:
        from kgroups.cli.commands.history.history_page import history_page  # Altair: half a second

        texts = [*(note.message for note in notes), *(error.text for error in errors)]
        write_page(html, history_page(found, looks, (since_ms, until_ms), texts))
    printer.show(
        Report(
            schema=SCHEMA,
            cluster={"id": placement.cluster_id, "bootstrap": placement.bootstrap},
            generated_at_ms=until_ms,
            items=lines_of(found, folded=folded),
            views=(view_of(folded=folded),),
            document_of=change_item,
            errors=errors,
            notes=notes,
            summary=lambda: summary_of(found, read, since_ms, until_ms),
        )
    )
    end_with(errors)


def _with_captures(
    printer: Printer, names: list[str], folder: Place, window: tuple[int, int]
) -> GroupHistories:
    """Histories from records and captures, or from captures alone where there are no records."""
    options, since_ms = printer.options, window[0]

    def captures_of(name: str | None) -> Sequence[ClusterSnapshot]:
        return read_captures(options, folder, names, name, window)

    given = (options.bootstrap_server, options.command_config, options.context)
    why = "no cluster given"
    if any(given):
        try:
            with cluster(options) as admin:
                found = read_histories(printer, admin, names, since_ms, captures_of)
            if found.logs is not None:
                return found
            why = _unread(OFFSETS_TOPIC, DENIED, OFFSETS_TOPIC).message
        except ClusterError as error:
            why = error.message
    printer.note("LOG_UNREAD", f"from captures only: {why}")
    captures = captures_of(None)
    readers = readers_of(names, since_ms, captures)
    placement = Placement(None, {}, captures[0].cluster_id)
    return GroupHistories(readers, placement, GroupLogs(), captures)


def _history(name: str, reader: HistoryReader) -> GroupHistory:
    return GroupHistory(
        name,
        with_causes(reader.end()),
        reader.records,
        reader.captures,
        reader.oldest_ms,
        reader.whole_since_ms,
        reader.members,
    )


def _errors(
    names: list[str],
    placement: Placement,
    logs: GroupLogs,
    readers: Mapping[str, HistoryReader],
    captures: Place | None,
) -> list[ItemError]:
    """Groups of which nothing is known: no record could be read, or there is none."""
    told = {name for name in names if readers[name].captures and not readers[name].records}
    errors = [error for error in placement.errors if error.target not in told]
    failed = {error.target for error in errors}
    for name in names:
        if name in failed or name in told:
            continue
        if name in logs.failures:
            errors.append(_unread(name, logs.failures[name], _place(name, placement)))
        elif not readers[name].records:
            if name in logs.unread.others:
                text = f"`{name}` is a share or streams group"
                errors.append(broker_error(name, "UNSUPPORTED_VERSION", text))
            else:
                place = _place(name, placement) if placement.coordinators else str(captures)
                errors.append(unknown_group(name, f"`{place}`"))
    return errors


def _unread(name: str, code: str, place: str) -> ItemError:
    """The failure of a group whose partition cannot be read."""
    if code == DENIED:
        text = f"not authorized to read `{OFFSETS_TOPIC}`"
        return broker_error(name, code, text, "DESCRIBE and READ on the topic are required")
    return broker_error(name, code, f"`{place}` cannot be read ({code})")


def _place(name: str, placement: Placement) -> str:
    return f"{OFFSETS_TOPIC}-{offsets_partition(name, placement.partitions or 1)}"


def _notes(found: GroupHistory, since_ms: int, broken: int) -> list[Note]:
    whole_ms, name = found.whole_since_ms, found.group
    notes = []
    if broken:
        text = f"`{name}`: {broken} records could not be read"
        notes.append(Note("RECORDS_LEFT_OUT", text, name))
    if whole_ms is not None and whole_ms > since_ms:
        text = f"`{name}`: records of before {time_text(whole_ms)} may be missing (compaction)"
        notes.append(Note("HISTORY_COMPACTED", text, name))
    if not found.changes:
        text = f"`{name}`: nothing happened since {time_text(since_ms)}"
        notes.append(Note("NOTHING_HAPPENED", text, name))
    return notes
