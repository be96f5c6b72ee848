"""`kgroups describe --at`: what groups had committed at a moment."""

from collections.abc import Mapping
from typing import Final

import typer

from kgroups.cli.choosing import exact_names
from kgroups.cli.exits import end_with, now_ms
from kgroups.cli.group_histories import open_histories, unread_groups
from kgroups.cli.moments import (
    capture_window,
    moment_readers,
    standing_fields,
    standings_of,
    tell_moment,
)
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, each_of, plain_view
from kgroups.cli.params import options_of
from kgroups.core.errors import UsageError
from kgroups.core.history.moment import EXACTNESSES, LastLook, Standing
from kgroups.core.lag.rules import greater, records_between
from kgroups.core.lag.stores.places import Place
from kgroups.core.offsets.scope import log_of
from kgroups.core.snapshot import TopicPartition
from kgroups.core.times import parse_moment_ms, timestamp

SCHEMA = "kgroups.describe.at/1"
COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("committed_offset", "COMMITTED", right=True),
    Column("log_start_offset", "LOG-START", right=True, verbose=True),
    Column("log_end_offset", "LOG-END", right=True, quiet=(None,)),
    Column("lag", "LAG", right=True, quiet=(None,)),
    Column("exactness", "EXACTNESS"),
    Column("known_at", "KNOWN-AT"),
    Column("source", "SOURCE"),
)
WITH_AT: Final = frozenset({"groups", "at", "captures"})


def describe_at(ctx: typer.Context, at: str | None, captures: Place | None) -> None:
    """Show what groups had committed.

    Raises:
        UsageError: no time, one that has not come, or another option does not go with it.
    """
    if at is None:
        raise UsageError("--captures requires --at")
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name in WITH_AT or name not in ctx.params:
            continue
        if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} and --at cannot be used together")
    options = options_of(ctx)
    names = list(exact_names(ctx.params["groups"] or ()))
    if not names:
        raise UsageError("no group given", hint="--at takes names of groups")
    generated_ms = now_ms()
    at_ms = parse_moment_ms(at, generated_ms)
    printer = Printer(options)
    tell_moment(printer, at_ms)
    make = moment_readers(names, at_ms)
    histories = open_histories(printer, names, make, captures, capture_window(at_ms))
    errors = unread_groups(names, histories, captures)
    placement = histories.placement
    looks = {name: reader.look for name, reader in histories.readers.items()}
    items: list[Item] = [
        {"group": name, "offsets": [_row(at, one, looks[name]) for at, one in rows.items()]}
        for name, rows in standings_of(histories, errors).items()
    ]
    printer.show(
        Report(
            SCHEMA,
            items,
            (plain_view("partition", COLUMNS, each_of("offsets")),),
            cluster={"id": placement.cluster_id, "bootstrap": placement.bootstrap},
            generated_at_ms=generated_ms,
            errors=errors,
            summary=lambda: _summary(items, at_ms),
        )
    )
    end_with(errors)


def _row(at: TopicPartition, standing: Standing, look: LastLook | None) -> Item:
    """One partition; its log only where the capture that has it has the commit, too."""
    is_seen = look is not None and standing.source == "captures"
    log = log_of(look.topics, at) if look is not None and is_seen else None
    start, end = (None, None) if log is None else log[:2]
    is_known = None not in (standing.offset, start, end)
    return {
        "topic": at[0],
        "partition": at[1],
        "committed_offset": standing.offset,
        "log_start_offset": start,
        "log_end_offset": end,
        "lag": records_between(standing.offset, start, end, greater) if is_known else None,
        **standing_fields(standing),
    }


def _summary(items: list[Item], at_ms: int) -> Mapping[str, int | str]:
    counts: dict[str, int] = dict.fromkeys(EXACTNESSES, 0)
    for item in items:
        for row in item["offsets"]:
            counts[row["exactness"]] += 1
    return {
        "at": timestamp(at_ms),
        "groups": len(items),
        "partitions": sum(counts.values()),
        **counts,
    }
