"""The rows of a report as one Parquet file, with the types that Spark gave them."""

import secrets
from pathlib import Path

from pyspark.sql.pandas.types import to_arrow_schema

from kgroups.core.errors import UsageError
from kgroups.core.lag.report import LagReport


def write_parquet(path: Path, answer: LagReport) -> None:
    """Writes the rows whole or not at all, over what is there.

    Raises:
        UsageError: it cannot be written there.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(answer.items, schema=to_arrow_schema(answer.schema))
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with hidden.open("wb") as file:
            pq.write_table(table, file, compression="zstd")
        hidden.replace(path)
    except OSError as exc:
        raise UsageError(
            f"the report cannot be written to `{path}`: {exc.strerror}",
            hint="choose a file in a folder that you can write to",
        ) from exc
    finally:
        hidden.unlink(missing_ok=True)
