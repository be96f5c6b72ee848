"""The report of `kgroups doctor`: facts, findings, and what was not examined."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from kgroups.cli.exits import Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Block, Column, Item, Row, View, cell_text, each_of, plain_view
from kgroups.core.conditions.group_figures import (
    Source,
    document_of,
    facts_of,
    figures_of,
)
from kgroups.core.doctor.examine import Examined
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import LEVELS, Finding, Level
from kgroups.core.doctor.thresholds import STUCK_S
from kgroups.core.errors import CheckFailed, ItemError, counted
from kgroups.core.lag.held_back import held_partition_count
from kgroups.core.snapshot import ClusterSnapshot

SCHEMA = "kgroups.doctor/1"
FEW: Final = 10
"""Groups of which a table shows facts though there is no finding."""
FACT_COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("type", "TYPE"),
    Column("state", "STATE"),
    Column("member_count", "MEMBERS", right=True),
    Column("partitions", "PARTITIONS", right=True),
    Column("lag", "LAG", right=True),
    Column("rate_in", "RATE-IN", right=True, quiet=(None,)),
    Column("rate_out", "RATE-OUT", right=True, quiet=(None,)),
    Column("session_timeout_seconds", "SESSION-S", right=True, quiet=(None,)),
    Column("session_timeout_source", "SESSION-FROM", quiet=(None,)),
)
FINDING_COLUMNS: Final = (
    Column("group", "GROUP", shared=True),
    Column("level", "LEVEL"),
    Column("code", "FINDING"),
    Column("certainty", "CERTAINTY"),
    Column("where", "WHERE", quiet=(None,)),
    Column("evidence", "EVIDENCE"),
    Column("proof", "PROOF", quiet=("",)),
    Column("impact", "IMPACT"),
    Column("next", "NEXT"),
)
NEEDS: Final = {
    "offsets": "commits could not be read",
    "members": "members could not be read",
    "rates": "requires --over or --captures",
    "long_rates": f"requires --over {STUCK_S:g}s",
}


def doctor_report(
    snapshot: ClusterSnapshot, results: Sequence[Examined], why: Mapping[str, str], *, csv: bool
) -> Report:
    """The report.

    Args:
        why: parts of the facts that groups lack, and why.
    """
    reasons = {**NEEDS, **why}
    few = len(results) <= FEW

    def fact_rows(item: Item) -> Iterator[Row]:
        if few or item["findings"]:
            figures = item["facts"]
            yield (item["group"], *(figures.get(column.field) for column in FACT_COLUMNS[1:]))

    facts = View("group", FACT_COLUMNS, fact_rows)
    findings = replace(plain_view("finding", FINDING_COLUMNS, _finding_rows), block=_block)
    items = [_item(result, reasons) for result in results]
    every = [finding for result in results for finding in result.findings]

    def summary() -> dict[str, Any]:
        levels = {f"{level}_count": sum(f.level == level for f in every) for level in LEVELS[1:]}
        return {"groups": len(results), "finding_count": len(every), **levels}

    return Report.of(
        snapshot,
        SCHEMA,
        items,
        (findings,) if csv else (facts, findings),
        summary=summary,
        notes=list(_notes(results, reasons)),
    )


def _item(result: Examined, reasons: Mapping[str, str]) -> Item:
    facts = result.facts
    return {
        "group": facts.name,
        "facts": _figures(facts),
        "findings": [_finding(finding) for finding in result.findings],
        "not_examined": [
            {"code": code, "reason": reason} for code, reason in _unexamined(result, reasons)
        ],
    }


def _unexamined(result: Examined, reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Codes that were not looked for, and those whose advice was not tried; why."""
    for code, part in result.not_examined:
        yield code, result.facts.missing.get(part) or reasons[part]
    why = result.facts.missing.get("retention")
    if why is not None and any(one.code == "FALLING_BEHIND" for one in result.findings):
        yield "FALLING_BEHIND", why
    yield from result.unproved


def _figures(facts: DoctorFacts) -> Item:
    source: Source = "offsets" if facts.times is None else "times"
    held = held_partition_count(facts.snapshot, facts.group)
    figures = figures_of(facts_of(facts.group, facts.rows, facts.times, held), source)
    unknown = {"type": None} if facts.group.state is None else {}  # its coordinator did not answer
    return document_of(figures) | unknown | dict(_timeouts(facts))


def _timeouts(facts: DoctorFacts) -> Iterator[tuple[str, Any]]:
    """The session timeout and heartbeat interval in force, and who sets them, where it is known."""
    own = {} if facts.settings is None else facts.settings.own
    for field in ("session_timeout", "heartbeat_interval"):
        setting = own.get(f"consumer.{field.replace('_', '.')}.ms")
        if setting is not None and setting.value is not None:
            yield f"{field}_seconds", int(setting.value) / 1_000
            yield f"{field}_source", setting.source
    ids = {member.member_id for member in facts.group.members or ()}
    came = (seat for change in facts.changes or () for seat in change.members.came)
    sessions = [seat.session_timeout_ms for seat in came if seat.member_id in ids]
    known_ms = [timeout for timeout in sessions if timeout is not None]
    if known_ms:
        yield "session_timeout_seconds", min(known_ms) / 1_000
        yield "session_timeout_source", "member"


def _finding(finding: Finding) -> Item:
    return {
        "code": finding.code,
        "level": finding.level,
        "where": dict(finding.where),
        "evidence": {n: value for n, value in finding.evidence.items() if value is not None},
        "proof": None if finding.proof is None else finding.proof._asdict(),
        "certainty": finding.certainty,
        "impact": finding.impact,
        "next": finding.next,
    }


def _finding_rows(item: Item) -> Iterator[Item]:
    for finding in each_of("findings")(item):
        figures = (_figure(name, value) for name, value in finding["evidence"].items())
        texts = {"where": _place(finding["where"]), "proof": _proof(finding["proof"])}
        yield {**finding, **texts, "evidence": ", ".join(figures)}


def _block(row: Row) -> Block:
    """A finding as a person reads it, with its command, however narrow the terminal is."""
    group, level, code, certainty, where, evidence, proof, impact, next_ = row
    head = group if where is None else f"{group}: {where}"
    texts = (f"{impact} ({certainty})", evidence, *filter(None, [proof]))
    return Block(f"{level}[{code}]", level, head, texts, next_)


def _place(where: Mapping[str, Any]) -> str | None:
    """`orders-3 (app-1)`, or a topic, a client, or an instance id."""
    topic, client = where.get("topic"), where.get("client_id")
    if topic is None:
        return client if "instance_id" not in where else str(where["instance_id"])
    place = topic if "partition" not in where else f"{topic}-{where['partition']}"
    return place if client is None else f"{place} ({client})"


def _figure(name: str, value: object) -> str:
    """`committed_offset 12`, `rate_in 9.97`."""
    text = f"{round(value, 2):.12g}" if isinstance(value, float) else cell_text(value)
    return f"{name} {text}"


def _proof(proof: Mapping[str, Any] | None) -> str:
    """`with one more member: partitions_max 1 instead of 2 (plan)`; empty without one."""
    if proof is None:
        return ""
    before, by = proof["before"], proof["by"]
    figures = ", ".join(
        f"{_figure(name, after)} as now"
        if after == before[name]
        else f"{_figure(name, after)} instead of {cell_text(before[name])}"
        for name, after in proof["after"].items()
    )
    how = by if proof["assumes"] is None else f"{by} of {proof['assumes']}"
    return f"with {proof['change']}: {figures} ({how})"


def _notes(results: Sequence[Examined], reasons: Mapping[str, str]) -> Iterator[Note]:
    well = sum(not result.findings for result in results)
    if well:
        text = f"{counted(well, 'group')} without findings"
        yield Note("NO_FINDINGS", text)
    codes: dict[str, set[str]] = {}
    for result in results:
        for code, reason in _unexamined(result, reasons):
            codes.setdefault(reason, set()).add(code)
    for reason, detectors in sorted(codes.items()):
        yield Note("NOT_EXAMINED", f"not examined: {', '.join(sorted(detectors))} ({reason})")


def found_at(results: Sequence[Examined], level: Level) -> list[ItemError]:
    """The groups with a finding of this level or a worse one, as failures that end the command."""
    lowest = LEVELS.index(level)
    return [
        ItemError(
            result.facts.name,
            "CHECK_FAILED",
            result.findings[0].code,
            exit_code=CheckFailed.exit_code,
        )
        for result in results
        if any(LEVELS.index(finding.level) >= lowest for finding in result.findings)
    ]
