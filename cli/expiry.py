"""`--expiry` and `--idle-for`: when brokers delete commits, and since when groups are idle."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from kgroups.cli.exits import Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.usage import Text, option
from kgroups.cli.where import left_out
from kgroups.core.errors import UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.offsets.expiry import Expiry, GroupExpiry, group_expiry
from kgroups.core.patterns import compile_pattern
from kgroups.core.snapshot import ClusterSnapshot, Group
from kgroups.core.times import parse_duration_ms, show_ms, timestamp

ShowExpiry = Annotated[bool, option("--expiry", "Show when commits expire.")]
IdleFor = Annotated[Text, option("--idle-for TIME", "Only groups idle for this long: 30d.")]

MOST_IDLE_MS: Final = 100 * 365 * 86_400_000
_DAY_MS: Final = 86_400_000
EXPIRES: Final = Column("expires", "EXPIRES")

Expiries = Mapping[str, "GroupExpiry"]


def parse_idle_ms(text: str | None) -> int | None:
    """Milliseconds of `--idle-for`; None without it.

    Raises:
        UsageError: no duration.
    """
    return (
        None if text is None else round(parse_duration_ms(text, least_ms=1, most_ms=MOST_IDLE_MS))
    )


def refuse_file(wanted: bool, file: object) -> None:
    """See that a cluster is asked: a snapshot file does not say when groups committed.

    Raises:
        UsageError: a file takes its place.
    """
    if wanted and file is not None:
        raise UsageError("--expiry and --idle-for require a cluster", hint="leave out --from")


def learn_expiries(
    printer: Printer, admin: ClusterAdmin, groups: Sequence[Group], *, retention: bool = True
) -> tuple[dict[str, GroupExpiry], list[Note]]:
    """When the groups' commits expire, and what to know of what could not be learned.

    Args:
        groups: with members and commits.
        retention: whether it is wanted how long brokers keep commits.
    """
    from kgroups.core.kafka.lookups.commit_times import commit_logs  # records: 40 ms of a start

    printer.progress(f"reading __consumer_offsets for {len(groups):,} groups")
    logs = commit_logs(admin, groups, retention=retention)
    notes = []
    if logs.failures:
        code = next(iter(logs.failures.values()))
        text = (
            f"{len(logs.failures)} partitions of `__consumer_offsets` could not be read ({code}), "
            "so it is not known when their groups committed"
        )
        notes.append(Note("COMMIT_TIMES_UNKNOWN", text))
    if logs.unread:
        text = (
            f"{len(logs.unread)} partitions of `__consumer_offsets` were not read as far as needed"
            "; a longer --timeout reads more"
        )
        notes.append(Note("COMMIT_TIMES_UNKNOWN", text))
    if logs.hidden:
        code = next(iter(logs.hidden.values()))
        text = f"brokers do not report how long they keep commits ({code})"
        notes.append(Note("RETENTION_UNKNOWN", text))
    return {
        group.group: group_expiry(group, logs.groups[group.group], compile_pattern)
        for group in groups
        if group.group in logs.groups
    }, notes


def idle_groups(
    groups: Iterable[Group], expiries: Expiries, now_ms: int, idle_ms: int
) -> tuple[list[Group], list[str]]:
    """The groups that have been idle for so long, and the names of those of which it is not known.

    A group with members is not idle.
    """
    idle, unknown = [], []
    for group in groups:
        if group.members:
            continue
        expiry = expiries.get(group.group)
        since_ms = None if expiry is None else expiry.idle_since_ms
        if since_ms is None:
            unknown.append(group.group)
        elif now_ms - since_ms >= idle_ms:
            idle.append(group)
    return idle, unknown


def note_of_unknown(unknown: Sequence[str]) -> Note:
    """Note on groups of which it is not known since when they are idle."""
    return left_out(unknown, "their last commit time is unknown")


def with_expiries(report: Report, snapshot: ClusterSnapshot, expiries: Expiries) -> Report:
    """The report with when commits expire: of groups, and of partitions where it has them."""
    unknown = Expiry()
    now_ms = snapshot.captured_at_ms
    document_of = report.document_of

    def document(item: Any) -> Item:
        made = dict(document_of(item))
        expiry = expiries.get(made["group"])
        if made.get("offsets") is not None:
            made["offsets"] = [
                {**row, **_fields(_of_row(expiry, row["topic"], row["partition"], unknown), now_ms)}
                for row in made["offsets"]
            ]
        total = unknown if expiry is None else expiry.total
        return {**made, **_fields(total, now_ms, "last_commit_at")}

    def seen(view: View) -> View:
        if view.name == "member":
            return view

        def rows(item: Any) -> Iterable[Row]:
            expiry = expiries.get(item["group"])
            for row in view.rows(item):
                total = unknown if expiry is None else expiry.total
                cell = (
                    _of_row(expiry, row[1], row[2], unknown) if view.name == "partition" else total
                )
                yield (*row, _text(cell, now_ms))

        return replace(view, columns=(*view.columns, EXPIRES), rows=rows)

    return replace(report, document_of=document, views=[seen(view) for view in report.views])


def _of_row(expiry: GroupExpiry | None, topic: str, partition: int, unknown: Expiry) -> Expiry:
    return unknown if expiry is None else expiry.rows.get((topic, partition), unknown)


def _fields(expiry: Expiry, now_ms: int, committed: str = "committed_at") -> Item:
    word, expires_ms, committed_ms = expiry
    return {
        committed: None if committed_ms is None else timestamp(committed_ms),
        "expiry": word,
        "expires_at": None if expires_ms is None else timestamp(expires_ms),
        "expires_in_seconds": None if expires_ms is None else max(0, expires_ms - now_ms) / 1_000,
    }


def _text(expiry: Expiry, now_ms: int) -> str | None:
    """`in 6h00m`, `due`, `in use`; None where it is not known."""
    if expiry.expiry != "expires" or expiry.expires_at_ms is None:
        return "in use" if expiry.expiry == "in_use" else None
    left_ms = expiry.expires_at_ms - now_ms
    if left_ms <= 0:
        return "due"
    return f"in {left_ms // _DAY_MS}d" if left_ms >= 3 * _DAY_MS else f"in {show_ms(left_ms)}"
