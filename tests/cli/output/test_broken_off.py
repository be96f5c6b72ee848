"""A document that something breaks off between its items has an end, and names what came."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from kgroups.cli.exits import TOLD
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, View
from kgroups.cli.params import GlobalOptions, OutputFormat
from kgroups.core.errors import ClusterError

VIEW = View("row", (Column("n", "N"),), lambda item: [(item["n"],)])
READ: dict[OutputFormat, Callable[[str], Any]] = {"json": json.loads, "yaml": yaml.safe_load}


def broken_off(form: OutputFormat, failure: BaseException, after: int) -> None:
    """Print a report whose items end with a failure."""
    count = 0

    def items() -> Iterator[dict[str, int]]:
        nonlocal count
        for count in range(after):
            yield {"n": count}
        raise failure

    report = Report("kgroups.rows/1", items(), (VIEW,), summary=lambda: {"rows": count + 1})
    TOLD.begin(form)
    with pytest.raises(type(failure)):
        Printer(GlobalOptions(output=form)).show(report)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (ClusterError("gone", code="NOT_COORDINATOR"), "NOT_COORDINATOR"),
        (KeyboardInterrupt(), "INTERRUPTED"),
        (ZeroDivisionError("by zero"), "BUG"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
@pytest.mark.parametrize("form", READ)
def test_a_document_has_its_end(
    form: OutputFormat, failure: BaseException, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the items so far, their summary, and why there are no more."""
    broken_off(form, failure, 2)
    document = READ[form](capsys.readouterr().out)
    assert document["items"] == [{"n": 0}, {"n": 1}]
    assert document["summary"] == {"rows": 2}
    assert [error["code"] for error in document["errors"]] == [code]
    assert TOLD.is_begun


@pytest.mark.parametrize("form", READ)
def test_nothing_is_begun_before_the_first_item(
    form: OutputFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then the failure has a document of its own."""
    broken_off(form, ClusterError("gone"), 0)
    assert (capsys.readouterr().out, TOLD.is_begun) == ("", False)
