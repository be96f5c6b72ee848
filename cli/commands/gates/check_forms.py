"""`kgroups check` for monitors: JUnit's XML and one line of a Nagios plugin."""

from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree import ElementTree

from kgroups.cli.commands.gates.check_report import met_text
from kgroups.cli.exits import CRITICAL, OK, UNKNOWN, WARNING, status_line
from kgroups.cli.output.escapes import printable
from kgroups.core.conditions.condition import Comparison, Condition
from kgroups.core.conditions.fields import SECONDS, AtLeast, Value
from kgroups.core.conditions.verdicts import Judged
from kgroups.core.errors import ItemError
from kgroups.core.times import timestamp

NAMED: Final = 3
"""How many groups the status line names of each kind."""


def junit(judged: Sequence[Judged], errors: Sequence[ItemError], now_ms: int) -> str:
    """One `<testsuite>` with a `<testcase>` for each group, as readers of JUnit's XML take it."""
    suite = ElementTree.Element("testsuite", name="kgroups check", timestamp=_iso(now_ms))
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for each in judged:
        case = ElementTree.SubElement(
            suite, "testcase", classname="kgroups.check", name=printable(each.group), time="0"
        )
        counts["tests"] += 1
        text = printable("; ".join(met_text(each)))
        if each.verdict in ("failed", "unknown"):
            counts["failures"] += 1
            code = "CHECK_FAILED" if each.verdict == "failed" else "CHECK_UNDETERMINED"
            ElementTree.SubElement(case, "failure", type=code, message=text).text = text
        elif each.verdict == "warning":
            ElementTree.SubElement(case, "system-out").text = f"warning: {text}"
        elif None in each.answers:
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
    verdicts = {each.verdict for each in judged}
    if "failed" in verdicts:
        return CRITICAL
    if errors or "unknown" in verdicts:
        return UNKNOWN
    return WARNING if "warning" in verdicts else OK


def nagios(judged: Sequence[Judged], errors: Sequence[ItemError]) -> str:
    """One status line with the figures as perfdata after `|`."""
    parts = []
    for verdict in ("failed", "unknown", "warning"):
        alike = [each for each in judged if each.verdict == verdict]
        if alike:
            parts.append(f"{len(alike)} {verdict}: {_some([_line(each) for each in alike])}")
    if errors:
        parts.append(_some([error.text for error in errors]))
    if not parts:
        parts.append(f"{len(judged)} group{'' if len(judged) == 1 else 's'}")
    said = status_line(nagios_code(judged, errors), "; ".join(parts))
    data = " ".join(_perfdata(judged))
    return f"{said} | {data}\n" if data else f"{said}\n"


def _line(judged: Judged) -> str:
    return f"`{judged.group}` {'; '.join(met_text(judged))}"


def _some(lines: Sequence[str]) -> str:
    more = len(lines) - NAMED
    return ", ".join(lines[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _perfdata(judged: Sequence[Judged]) -> Iterator[str]:
    """`'group lag'=12;100;1000;0` for every number that a condition names."""
    for each in judged:
        named: dict[str, None] = {}
        for condition in each.gate.conditions:
            for comparison in condition.root.comparisons():
                if comparison.field.kind == "number":
                    named[comparison.field.name] = None
        for name in named:
            label = f"{each.group} {name}".replace("=", "-").replace("'", "''").replace("|", "/")
            limits = (
                _limit(each.gate.warn_on, name),
                _limit(each.gate.fail_on, name),
            )
            value = _number(each.figures.get(name), _unit(each.gate.conditions, name))
            yield f"'{printable(label)}'={value};{limits[0]};{limits[1]};0"


def _number(value: Value, unit: str) -> str:
    """A figure with its unit; `U` where it is not known."""
    if value is None or isinstance(value, str | AtLeast):
        return "U"
    return f"{value:.3f}{unit}" if isinstance(value, float) else f"{value}{unit}"


def _unit(conditions: Sequence[Condition], name: str) -> str:
    units = {
        each.field.unit
        for condition in conditions
        for each in condition.root.comparisons()
        if each.field.name == name
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


def _iso(now_ms: int) -> str:
    return timestamp(now_ms).partition(".")[0]
