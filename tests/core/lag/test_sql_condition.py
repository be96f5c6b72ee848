"""`--sql` and `--sort` of lag reports: what is wrong with them is told without Spark."""

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.report_columns import check_columns
from kgroups.core.lag.sql_condition import check_sql

GOOD = {
    "lag > 1000 and topic like 'audit%'": {"lag", "topic"},
    "group like 'driven-%'": {"group"},
    "`group` = 'x' or partition = 3": {"group", "partition"},
    "LAG between 1 and 2": {"LAG"},
    'not (verdict = "STOP") -- a comment': {"verdict"},
    "exists(array(1, 2), x -> x > lag)": {"lag"},
    "best <=> null or topic rlike 'a.*b'": {"best", "topic"},
    "case when lag div 2 > 1000L then true end": {"lag"},
    "lag is not distinct from 3;": {"lag"},
    "t.lag > 1": {"t.lag"},
}
BAD = {
    "": "it is empty",
    "lag >": "incomplete after `>` at character 5",
    "lag > 1\n  and and topic = 'x'": "incomplete after `and` at character 15",
    "lag > 1; drop table x": "unexpected `drop` at character 10",
    "lag > 1 limit 5": "unexpected `limit` at character 9",
    "((lag > 1)": "expected `)` after `)` at character 10",
    "lag = 'a": "a quote or comment is not closed, opened at character 7",
    "lag > 1 /* x": "a quote or comment is not closed",
    "(" * 900 + "lag" + ")" * 900: "it is nested too deeply",
    "lag": "it is a value, neither true nor false",
    "(lag + 1)": "it is a value, neither true nor false",
    "lag in (select 1)": "it holds a subquery",
    "sum(lag) > 1": "it holds an aggregate function",
    "row_number() over (order by lag) = 1": "it holds a window function",
    "lag > :most": "it holds a parameter",
}


@pytest.mark.parametrize(("text", "columns"), GOOD.items())
def test_columns_of_a_condition(text: str, columns: set[str]) -> None:
    """Spark's spellings, reserved words among the names too."""
    assert set(check_sql(text, "--sql")) == columns


@pytest.mark.parametrize(("text", "why"), BAD.items(), ids=[text[:20] for text in BAD])
def test_what_is_no_condition(text: str, why: str) -> None:
    """The sentence says what and where."""
    with pytest.raises(UsageError) as caught:
        list(check_sql(text, "--sql"))
    assert caught.value.message.endswith(f"` is not valid: {why}")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (LagQuery(sql="lagg > 1"), "no column `lagg`; did you mean `lag`?"),
        (LagQuery(sql="t.lag > 1"), "this report has no column `t.lag`"),
        (LagQuery(by="topic", sql="group = 'g'"), "no column `group`; did you mean `groups`?"),
        (LagQuery(sql="lag_seconds > 1"), "no column `lag_seconds`"),
        (LagQuery(sort="lag_peak"), "a lag report by group has no column `lag_peak` to sort by"),
        (LagQuery(assignors=("range",), sort="lag_p50"), "no column `lag_p50`"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_columns_that_a_report_has_not(query: LagQuery, message: str) -> None:
    """With the names that are nearest; lag in seconds is of reports over time."""
    with pytest.raises(UsageError) as caught:
        check_columns(query, "snapshot")
    assert message in caught.value.message


@pytest.mark.parametrize(
    "query",
    [
        LagQuery(sql="LAG_SECONDS > 1 and verdict = 'STOP'", sort="lag_peak"),
        LagQuery(by="member", assignors=("range",), sql="planned_rate_in > 1"),
    ],
    ids=["now", "planned"],
)
def test_columns_of_reports_over_time(query: LagQuery) -> None:
    """Names in any case, as Spark takes them."""
    check_columns(query, "captures")
