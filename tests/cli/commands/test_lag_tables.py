"""A lag report as a table and as CSV: for people and for machines."""

import pytest
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from kgroups.cli.commands.lag.lag_answer import lag_document
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions, OutputFormat
from kgroups.core.lag.report import LagReport

KINDS = {
    "cluster": StringType(),
    "group": StringType(),
    "lag": LongType(),
    "rate_in": DoubleType(),
}
SCHEMA = StructType([StructField(name, kind) for name, kind in KINDS.items()])


def shown(
    clusters: list[str], output: OutputFormat, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """The lines of a report of a group in each cluster."""
    items = [{"cluster": c, "group": "g", "lag": 1, "rate_in": 1 / 3} for c in clusters]
    document = lag_document(None, "group", LagReport(items, SCHEMA, {}))
    Printer(GlobalOptions(output=output)).show(document)
    return capsys.readouterr().out.splitlines()


def test_machines_get_every_digit(capsys: pytest.CaptureFixture[str]) -> None:
    """CSV is for machines; a table has one decimal."""
    assert shown(["a"], "csv", capsys) == ["cluster,group,lag,rate_in", f"a,g,1,{1 / 3}"]
    assert [line.split() for line in shown(["a"], "table", capsys)] == [
        ["GROUP", "LAG", "RATE-IN"],
        ["g", "1", "0.3"],
    ]


def test_several_clusters_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is more than one, a table says which."""
    assert [line.split()[0] for line in shown(["a", "b"], "table", capsys)] == ["CLUSTER", "a", "b"]
