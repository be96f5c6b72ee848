"""The rows of a report as one Parquet file, with the types that their engine gave them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kgroups.core.errors import UsageError
from kgroups.core.input_files.files import whole_file
from kgroups.core.lag.report import LagReport
from kgroups.core.lag.stores.places import Place, Store, failures_told, split_file


def write_parquet(place: Place, answer: LagReport) -> None:
    """Writes the rows whole or not at all, over what is there.

    Raises:
        UsageError: it cannot be written there.
        ClusterError: the store cannot be reached or entered.
    """
    table = pa.Table.from_pylist(answer.items, schema=answer.schema)
    if isinstance(place, Store):
        folder, name = split_file(place)
        with failures_told(place):
            pq.write_table(table, name, filesystem=folder.files(), compression="zstd")
    else:
        _write_local(place, table)


def _write_local(path: Path, table: pa.Table) -> None:
    try:
        with whole_file(path) as file:
            pq.write_table(table, file, compression="zstd")
    except OSError as exc:
        raise UsageError(
            f"the report cannot be written to `{path}`: {exc.strerror}",
            hint="choose a file in a folder that you can write to",
        ) from exc
