"""`kgroups plan --check-assignor NAME`: does a strategy keep its promises?"""

import sys

from kgroups.assignors.registry import SERVER_ASSIGNORS, assignor
from kgroups.assignors.spec import Assignor, AssignorError
from kgroups.assignors.user.conformance import check_assignor
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.core.errors import CheckFailed, ItemError, KgroupsError

CASES = 500
SEED = 1

COLUMNS = (
    Column("assignor", "ASSIGNOR"),
    Column("property", "PROPERTY"),
    Column("message", "WHAT"),
    Column("case", "SMALLEST-CASE"),
)


def check_report(schema: str, name: str) -> Report:
    """The promises that an assignor breaks, each with a small case; none is what one hopes for.

    Raises:
        KgroupsError: there is no such assignor, or it cannot be loaded.
    """
    strategy = _strategy(name)
    findings = check_assignor(strategy, SEED, CASES)
    items: list[Item] = [
        {"assignor": name, "property": f.property, "message": f.message, "case": f.case}
        for f in findings
    ]
    return Report(
        schema,
        items,
        (plain_view("finding", COLUMNS, _rows),),
        errors=[
            ItemError(
                name,
                "PROMISE_BROKEN",
                f"not {finding.property}: {finding.message}",
                "an assignor lists what it does not guarantee in `waives`",
                CheckFailed.exit_code,
            )
            for finding in findings
        ],
        summary=lambda: {"cases": CASES, "seed": SEED, "finding_count": len(items)},
    )


def _strategy(name: str) -> Assignor:
    if ":" in name and "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return SERVER_ASSIGNORS[name] if name == "uniform" else assignor(name)
    except AssignorError as error:
        raise KgroupsError(error.message, hint=error.hint, code="UNKNOWN_ASSIGNOR") from error


def _rows(item: Item) -> list[Item]:
    return [{name: " / ".join(str(value).splitlines()) for name, value in item.items()}]
