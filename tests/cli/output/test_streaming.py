"""No form holds a document: its items are made, written and let go."""

import os
import tracemalloc

import pytest

from kgroups.cli.commands.snapshot import snapshot_report
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions, OutputFormat
from tests.support.cli.clusters import fleet

FEW, MANY, PARTITIONS = 20, 80, 24
MOST_BYTES_A_ROW = 100
"""A row of a document takes five times as much."""


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "yaml"])
def test_a_snapshot_is_shown_item_by_item(
    form: OutputFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory that it takes hardly grows with the cluster."""

    def peak(groups: int) -> int:
        snapshot = fleet(groups, PARTITIONS)
        tracemalloc.start()
        try:
            Printer(GlobalOptions(output=form)).show(snapshot_report(snapshot))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        monkeypatch.setattr("sys.stdout", nowhere)
        peak(1)  # what is imported and kept
        few = peak(FEW)
        growth = peak(MANY) - few
    assert growth / (MANY - FEW) / PARTITIONS < MOST_BYTES_A_ROW
