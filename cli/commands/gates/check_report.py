"""The report of `kgroups check`: items, the table of what counts against groups.

For monitors: JUnit's XML, and one line of a Nagios plugin.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree

from kgroups.cli.exits import CRITICAL, OK, UNKNOWN, WARNING, status_line
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.escapes import printable
from kgroups.cli.output.table import Column, Item, Row, View, plain_view
from kgroups.core.conditions.condition import Comparison, Condition
from kgroups.core.conditions.fields import SECONDS, AtLeast, Fields, Value
from kgroups.core.conditions.group_figures import document_of
from kgroups.core.conditions.verdicts import Judged
from kgroups.core.errors import CheckFailed, ItemError
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import timestamp

NAMED: Final = 3
"""How many groups the status line names of each kind."""


def junit(judged: Sequence[Judged], errors: Sequence[ItemError], now_ms: int) -> str:
    """One `<testsuite>` with a `<testcase>` for each group, as readers of JUnit's XML take it."""
    at = timestamp(now_ms).partition(".")[0]
    suite = ElementTree.Element("testsuite", name="kgroups check", timestamp=at)
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for group in judged:
        case = ElementTree.SubElement(
            suite, "testcase", classname="kgroups.check", name=printable(group.group), time="0"
        )
        counts["tests"] += 1
        text = printable("; ".join(met_text(group)))
        if group.verdict in ("failed", "unknown"):
            counts["failures"] += 1
            code = "CHECK_FAILED" if group.verdict == "failed" else "CHECK_UNDETERMINED"
            ElementTree.SubElement(case, "failure", type=code, message=text).text = text
        elif group.verdict == "warning":
            ElementTree.SubElement(case, "system-out").text = f"warning: {text}"
        elif None in group.answers:
            counts["skipped"] += 1
            ElementTree.SubElement(case, "skipped", message="a field is unknown")
    for error in errors:
        case = ElementTree.SubElement(
            suite, "testcase", classname="kgroups.check", name=printable(error.target), time="0"
        )
        counts["tests"] += 1
        counts["errors"] += 1
        text = printable(error.text)
        ElementTree.SubElement(case, "error", type=error.code, message=text).text = text
    suite.attrib |= {name: str(count) for name, count in counts.items()} | {"time": "0"}
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def nagios_code(judged: Sequence[Judged], errors: Sequence[ItemError]) -> int:
    """The plugin's exit code: what is critical first, then what is not known, then warnings."""
    verdicts = {group.verdict for group in judged}
    if "failed" in verdicts:
        return CRITICAL
    if errors or "unknown" in verdicts:
        return UNKNOWN
    return WARNING if "warning" in verdicts else OK


def nagios(judged: Sequence[Judged], errors: Sequence[ItemError]) -> str:
    """One status line with the figures as perfdata after `|`."""
    parts = []
    for verdict in ("failed", "unknown", "warning"):
        alike = [group for group in judged if group.verdict == verdict]
        if alike:
            lines = [f"`{group.group}` {'; '.join(met_text(group))}" for group in alike]
            parts.append(f"{len(alike)} {verdict}: {_some(lines)}")
    if errors:
        parts.append(_some([error.text for error in errors]))
    if not parts:
        parts.append(f"{len(judged)} group{'' if len(judged) == 1 else 's'}")
    said = status_line(nagios_code(judged, errors), "; ".join(parts))
    data = " ".join(_perfdata(judged))
    return f"{said} | {data}\n" if data else f"{said}\n"


def _some(lines: Sequence[str]) -> str:
    more = len(lines) - NAMED
    return ", ".join(lines[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _perfdata(judged: Sequence[Judged]) -> Iterator[str]:
    """`'group lag'=12;100;1000;0` for every number that a condition names."""
    for group in judged:
        named: dict[str, None] = {}
        for condition in group.gate.conditions:
            for comparison in condition.root.comparisons():
                if comparison.field.kind == "number":
                    named[comparison.field.name] = None
        for name in named:
            label = f"{group.group} {name}".replace("=", "-").replace("'", "''").replace("|", "/")
            limits = (
                _limit(group.gate.warn_on, name),
                _limit(group.gate.fail_on, name),
            )
            value = _number(group.figures.get(name), _unit(group.gate.conditions, name))
            yield f"'{printable(label)}'={value};{limits[0]};{limits[1]};0"


def _number(value: Value, unit: str) -> str:
    """A figure with its unit; `U` where it is not known."""
    if value is None or isinstance(value, str | AtLeast):
        return "U"
    return f"{value:.3f}{unit}" if isinstance(value, float) else f"{value}{unit}"


def _unit(conditions: Sequence[Condition], name: str) -> str:
    units = {
        comparison.field.unit
        for condition in conditions
        for comparison in condition.root.comparisons()
        if comparison.field.name == name
    }
    return "s" if SECONDS in units else ""


def _limit(conditions: Sequence[Condition], name: str) -> str:
    """The range outside which an alert is given, of a lone comparison; empty for any other."""
    for condition in conditions:
        root = condition.root
        if isinstance(root, Comparison) and root.field.name == name and not root.percent:
            number = f"{float(root.operand):.3f}".rstrip("0").rstrip(".")
            if root.sign in (">", ">="):
                return number
            if root.sign in ("<", "<="):
                return f"{number}:"
    return ""


SCHEMA = "kgroups.check/1"
FIELDS_SCHEMA = "kgroups.check.fields/1"

COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("verdict", "VERDICT"),
    Column("condition", "CONDITION"),
    Column("figures", "FIGURES"),
)
FIELD_COLUMNS: Final = (
    Column("field", "FIELD"),
    Column("of", "OF", shared=True),
    Column("type", "TYPE"),
    Column("unit", "UNIT", quiet=(None,)),
    Column("meaning", "MEANING"),
)
COUNTED: Final = ("ok", "warning", "unknown", "failed")


def check_report(
    snapshot: ClusterSnapshot, judged: Sequence[Judged], errors: Sequence[ItemError]
) -> Report:
    """The groups before their gate; a table has those that something counts against."""
    verdicts = [group.verdict for group in judged]
    counts = {"groups": len(judged), **{word: verdicts.count(word) for word in COUNTED}}
    return Report.of(
        snapshot,
        SCHEMA,
        judged,
        (View("group", COLUMNS, _rows),),
        errors=errors,
        summary=lambda: counts,
        document_of=check_item,
    )


def check_item(judged: Judged) -> Item:
    """A group as an item of `kgroups.check/1`."""
    count = len(judged.gate.fail_on)
    pairs = zip(judged.gate.conditions, judged.answers, strict=True)
    return {
        "group": judged.group,
        "verdict": judged.verdict,
        "conditions": [
            {
                "condition": condition.text,
                "severity": "failed" if number < count else "warning",
                "holds": answer,
                "figures": document_of(
                    {name: judged.figures.get(name) for name in condition.fields}
                ),
            }
            for number, (condition, answer) in enumerate(pairs)
        ],
        "figures": document_of(judged.figures),
    }


def failures(judged: Sequence[Judged]) -> Iterator[ItemError]:
    """The groups that fail, as what the exit code is made of."""
    for group in judged:
        if group.verdict in ("failed", "unknown"):
            text = "; ".join(met_text(group))
            yield ItemError(group.group, "CHECK_FAILED", text, None, CheckFailed.exit_code)


def met_text(judged: Judged) -> Iterator[str]:
    """`lag > 10k (lag is 12345)`: each condition that counts against the group."""
    for condition, answer in judged.met:
        text = condition.text if answer else f"{condition.text}: unknown"
        yield f"{text} ({_told(condition, judged)})"


def _told(condition: Condition, judged: Judged) -> str:
    return ", ".join(condition.told(judged.figures))


def _rows(judged: Judged) -> Iterator[Row]:
    if not judged.met:
        return
    yield (
        judged.group,
        judged.verdict,
        "; ".join(condition.text for condition, _ in judged.met),
        "; ".join(dict.fromkeys(_told(condition, judged) for condition, _ in judged.met)),
    )


def fields_report(tables: Mapping[str, Fields], now_ms: int) -> Report:
    """The fields that conditions may name."""
    items: list[dict[str, Any]] = [
        {
            "field": field.name,
            "of": of,
            "type": field.kind,
            "unit": field.unit,
            "meaning": field.meaning,
        }
        for of, fields in tables.items()
        for field in fields.rows
    ]
    return Report(
        FIELDS_SCHEMA,
        items,
        (plain_view("field", FIELD_COLUMNS),),
        generated_at_ms=now_ms,
        summary=lambda: {"fields": len(items)},
    )
