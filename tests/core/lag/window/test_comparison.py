"""Two windows side by side, against plain Python: what each says, and what changed."""

from pathlib import Path
from typing import Any

import pytest

from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import Field, Fields
from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.lag.captures.retention import roll_up
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.report import check_query
from kgroups.core.lag.report_columns import COMPARED, report_columns
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.figure_differences import is_same
from tests.support.lag.odd_history import START_MS, moved, odd_captures, write_captures
from tests.support.lag.plain_truth import HOUR_MS, KEYS, Asked, truth

pytestmark = pytest.mark.spark

WEEK_MS = 7 * 24 * HOUR_MS
WINDOW = (START_MS - 24 * HOUR_MS, START_MS + 24 * HOUR_MS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of two weeks, the first rolled up."""
    place = tmp_path_factory.mktemp("weeks")
    for captures in (BEFORE, NOW):
        write_captures(place, captures, every=100)
    assert list(roll_up(place, before_ms=START_MS - 2 * 24 * HOUR_MS))
    return place


NOW = odd_captures(5, 6)
BEFORE = moved(odd_captures(6, 6), -WEEK_MS)


def condition(text: str) -> Condition:
    """On a column of the report."""
    return parse_condition(
        text, Fields("a lag report", [Field("lag_change", "number", None, "growth")]), "--fail-on"
    )


@pytest.mark.parametrize("by", ["group"])
def test_both_windows_and_their_difference(engine: dict[str, Any], folder: Path, by: str) -> None:
    """Every row of either, sorted by what its lag grew by; conditions are on changes too."""
    grew = condition("lag_change > 500")
    query = LagQuery(by=by, top=10_000, compare_ms=WEEK_MS, fail_on=[grew])
    since_ms, until_ms = WINDOW
    report = lag_report_over(folder, query, since_ms=since_ms, until_ms=until_ms, **engine)
    asked = Asked(by, since_ms, until_ms)
    now, summary = truth(NOW, asked)
    then, _ = truth(
        BEFORE,
        asked._replace(since_ms=since_ms - WEEK_MS, until_ms=until_ms - WEEK_MS),
        lambda _capture: "hour",
    )
    assert report.columns == report_columns(query, "captures")
    assert report.summary["lag"] == summary["lag"]
    assert report.summary["compare_ms"] == WEEK_MS
    assert report.summary["hours"] > 0
    found = {tuple(item[key] for key in KEYS[by]): item for item in report.items}
    empty: dict[str, Any] = dict.fromkeys(COMPARED)
    wrong = []
    for key in {*now, *then, *found}:
        item, here, was = found.get(key, {}), now.get(key, empty), then.get(key, empty)
        where = {(True, True): "both", (True, False): "new", (False, True): "gone"}
        expected: dict[str, Any] = {"compared": where[key in now, key in then]}
        for name, is_number in COMPARED.items():
            expected |= {name: here.get(name), f"{name}_before": was.get(name)}
            if is_number:
                is_known = None not in (here.get(name), was.get(name))
                expected[f"{name}_change"] = here[name] - was[name] if is_known else None
        wrong += [
            (key, name, item.get(name), value)
            for name, value in expected.items()
            if not is_same(item.get(name), value)
        ]
    assert not wrong, wrong[:5]
    assert {item["compared"] for item in report.items} == {"both", "new", "gone"}
    changes = [item["lag_change"] for item in report.items]
    known = [change for change in changes if change is not None]
    assert changes == sorted(known, reverse=True) + [None] * (len(changes) - len(known))
    failed = [error for error in report.errors if error.code == "CHECK_FAILED"]
    assert len(failed) == sum(change > 500 for change in known) > 0


def test_nothing_to_compare_with(folder: Path) -> None:
    """Known before Spark starts, and said of which window."""
    query = LagQuery(compare_ms=2 * WEEK_MS)
    with pytest.raises(NotFoundError) as failed:
        lag_report_over(folder, query, since_ms=WINDOW[0], until_ms=WINDOW[1])
    text = "nothing to compare with: no captures from 2025-09-24T08:53:20.000Z to 2025-09-26T08:53"
    assert failed.value.message.startswith(text)


@pytest.mark.parametrize(
    ("query", "source"),
    [
        (LagQuery(compare_ms=1), "snapshot"),
        (LagQuery(compare_ms=1, assignors=("range",), by="member", sort="skew"), "captures"),
        (LagQuery(compare_ms=1, sort="skew"), "captures"),
    ],
)
def test_what_cannot_be_compared(query: LagQuery, source: Any) -> None:
    """The cluster as it is now, a column that two windows do not have."""
    with pytest.raises(UsageError):
        check_query(query, source)
