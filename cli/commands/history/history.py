"""`kgroups history`: what became of groups, out of `__consumer_offsets`."""

from functools import partial
from typing import Annotated

import typer

from kgroups.cli.broker_logs import check_logs, log_notes, read_logs
from kgroups.cli.captures import Captures
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
from kgroups.cli.exits import Note, end_with, now_ms
from kgroups.cli.group_histories import (
    open_histories,
    readers_of,
    unread_groups,
)
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.pages.render import write_page
from kgroups.cli.params import HtmlFile, options_of
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.extras import require_extra
from kgroups.core.history.causes import with_causes
from kgroups.core.times import parse_instant_ms

SCHEMA = "kgroups.history/1"

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
    groups: Annotated[list[str], argument("GROUP...", "Group names.")],
    since: Annotated[Text, option("--since TIME", "How far back: 24h (default), 7d.")] = None,
    log: Annotated[Texts, option("--log FILE", "Read a broker's log too; - for stdin.")] = None,
    captures: Captures = None,
    html: HtmlFile = None,
) -> None:
    if html is not None:
        require_extra("html", "`--html`")
    options = options_of(ctx)
    printer = Printer(options)
    names = list(exact_names(groups))
    check_logs(log or [])
    until_ms = now_ms()
    since_ms = parse_instant_ms(since or "24h", until_ms)
    make = partial(readers_of, names, since_ms)
    histories = open_histories(printer, names, make, captures, (since_ms, until_ms))
    errors = unread_groups(names, histories, captures)
    readers, placement, logs, looks = histories
    failed = {error.target for error in errors}
    found = [
        GroupHistory(name, with_causes(readers[name].end()), readers[name])
        for name in names
        if name not in failed
    ]
    read = read_logs(log or [], {one.group: one.changes for one in found})
    found = [explained(one, read) for one in found]
    broken = {} if logs is None else logs.unread.broken
    folded = options.output == "table"
    notes = [*log_notes(read)]
    notes += (n for one in found for n in _notes(one, since_ms, broken.get(one.group, 0)))
    if html is not None:
        from kgroups.cli.commands.history.history_page import history_page  # Altair: half a second

        texts = [*(note.message for note in notes), *(error.text for error in errors)]
        write_page(html, history_page(found, looks, (since_ms, until_ms), texts))
    printer.show(
        Report(
            SCHEMA,
            lines_of(found, folded=folded),
            (view_of(folded=folded),),
            cluster={"id": placement.cluster_id, "bootstrap": placement.bootstrap},
            generated_at_ms=until_ms,
            document_of=change_item,
            errors=errors,
            notes=notes,
            summary=lambda: summary_of(found, read, since_ms, until_ms),
        )
    )
    end_with(errors)


def _notes(found: GroupHistory, since_ms: int, broken: int) -> list[Note]:
    whole_ms, name = found.reader.whole_since_ms, found.group
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
