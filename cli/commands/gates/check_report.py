"""What `kgroups check` found, as a report: items, the table of what counts against groups."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import Fields
from kgroups.core.conditions.group_figures import document_of
from kgroups.core.conditions.verdicts import Judged
from kgroups.core.errors import CheckFailed, ItemError
from kgroups.core.snapshot import ClusterSnapshot

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
    verdicts = [each.verdict for each in judged]
    counts = {"groups": len(judged), **{word: verdicts.count(word) for word in COUNTED}}
    return Report(
        schema=SCHEMA,
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        generated_at_ms=snapshot.captured_at_ms,
        items=judged,
        views=(View("group", COLUMNS, _rows),),
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
    for each in judged:
        if each.verdict in ("failed", "unknown"):
            text = "; ".join(met_text(each))
            yield ItemError(each.group, "CHECK_FAILED", text, None, CheckFailed.exit_code)


def met_text(judged: Judged) -> Iterator[str]:
    """`lag > 10k (lag is 12345)`: each condition that counts against the group."""
    for condition, answer in judged.met:
        yield f"{_condition_text(condition, answer)} ({_told(condition, judged)})"


def _condition_text(condition: Condition, answer: bool | None) -> str:
    return condition.text if answer else f"{condition.text}: unknown"


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
    """The fields that conditions may name.

    Args:
        tables: by what the conditions are about.
    """
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
        schema=FIELDS_SCHEMA,
        generated_at_ms=now_ms,
        items=items,
        views=(View("field", FIELD_COLUMNS, _field_row),),
        summary=lambda: {"fields": len(items)},
    )


def _field_row(item: Item) -> list[Row]:
    return [tuple(item[column.field] for column in FIELD_COLUMNS)]
