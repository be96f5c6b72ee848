"""DuckDB as the engine of reports on captures: answers without Java, from the same SQL."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from kgroups.core.errors import KgroupsError
from kgroups.core.lag.captures.capture_files import broken_file, captures_changed, rows_of_files
from kgroups.core.lag.captures.delta_table import ActiveFile
from kgroups.core.lag.engines import Frame, Given, Query, WrongSql, with_sources
from kgroups.core.lag.lag_query import EngineName
from kgroups.core.lag.stores.places import Place, Store

# Nothing is fetched from anywhere: what is needed is part of the package.
SETTINGS: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_PARAMETER: Final = re.compile("\0([a-z_0-9]+)\0")


class DuckDb:
    """An engine: each answer is a view, and rows are computed when they are fetched."""

    name: EngineName = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._names = 0
        self._read: list[tuple[Place, Sequence[ActiveFile], pa.Schema]] = []

    def _new_name(self) -> str:
        self._names += 1
        return f"frame_{self._names}"

    def rows(self, table: pa.Table, *, few: bool = True) -> Given:
        """A table that is here."""
        name = self._new_name()
        self._connection.register(name, table)
        return Given(name)

    def files(
        self, place: Place, files: Sequence[ActiveFile], schema: pa.Schema, *, few: bool
    ) -> Given:
        """The rows of files: read by DuckDB from a folder, by Arrow from a store."""
        if isinstance(place, Store) or not files:
            return self.rows(rows_of_files(place, files, schema))
        paths = exp.convert([file.path for file in files]).sql("duckdb")
        options = "hive_partitioning = true, hive_types_autocast = false, union_by_name = true"
        raw = self._new_name()
        self._read.append((place, files, schema))
        try:
            self._connection.execute(
                f"CREATE TEMP VIEW {raw} AS SELECT * FROM read_parquet({paths}, {options})"
            )
        except duckdb.Error as exc:
            raise _unreadable(place, files, exc) from exc
        names = self._connection.view(raw).columns
        columns = ", ".join(_column(field, is_there=field.name in names) for field in schema)
        name = self._new_name()
        self._connection.execute(f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM {raw}")
        return Given(name)

    def check_files(self) -> None:
        """Find the file that made an answer fail, which DuckDB does not name.

        Raises:
            KgroupsError: it is gone, or cannot be read.
        """
        for place, files, schema in self._read:
            for file in files:
                rows_of_files(place, [file], schema)

    def _text_of(self, answer: Frame) -> str:
        query = Query(answer)
        text = with_sources(query.text, [given.frame for given in query.given])
        return translated(text, query.parameters)

    def keep(self, answer: Frame) -> Given:
        """The same as a table."""
        name = self._new_name()
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {self._text_of(answer)}")
        return Given(name)

    def fetch(self, answer: Frame) -> pa.Table:
        """All rows; sums of 64-bit numbers are 64-bit numbers, as Spark's are."""
        try:
            relation = self._connection.sql(self._text_of(answer))
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException) as exc:
            raise WrongSql(str(exc).splitlines()[0]) from exc
        rows = relation.to_arrow_table()
        return rows.cast(pa.schema([f.with_type(_plain(f.type)) for f in rows.schema]))


@contextmanager
def duckdb_engine() -> Iterator[DuckDb]:
    """An engine for the length of a `with` block; what DuckDB throws is ours.

    Raises:
        KgroupsError: DuckDB failed.
    """
    with (
        tempfile.TemporaryDirectory(prefix="kgroups-") as scratch,
        duckdb.connect(config={**SETTINGS, "temp_directory": scratch}) as connection,
    ):
        engine = DuckDb(connection)
        try:
            yield engine
        except duckdb.Error as exc:
            engine.check_files()
            raise KgroupsError(
                f"DuckDB failed: {str(exc).splitlines()[0]}", code="DUCKDB_FAILED"
            ) from exc


def translated(text: str, parameters: Mapping[str, object]) -> str:
    """A query in Spark's SQL as DuckDB has it, with the parameters as literals."""

    def literal(match: re.Match[str]) -> str:
        return str(exp.convert(parameters[match[1]]).sql("duckdb", identify=True))

    return _PARAMETER.sub(literal, _translated(text))


@lru_cache(maxsize=64)
def _translated(text: str) -> str:
    """The same with placeholders for parameters; kept, as translating is half of a small report."""

    def own(node: Any) -> Any:
        if isinstance(node, exp.Hint):
            return None
        if isinstance(node, exp.Struct) and isinstance(node.expressions[0], exp.Column):
            first = node.expressions[0]
            if isinstance(first.this, exp.Star):  # the whole row
                return exp.column(first.table)
        if isinstance(node, exp.Placeholder):
            return exp.Var(this=f"\0{node.name}\0")
        if isinstance(node, exp.ApproxQuantile):
            return exp.func("quantile_disc", node.this, node.args["quantile"])
        # DuckDB's own would leave out rows in which the value is null.
        if isinstance(node, exp.ArgMax):
            return exp.Anonymous(this="arg_max_null", expressions=[node.this, node.expression])
        if isinstance(node, exp.ArgMin):
            return exp.Anonymous(this="arg_min_null", expressions=[node.this, node.expression])
        if isinstance(node, exp.CountIf):  # DuckDB's is null where there is no row
            return exp.Count(this=exp.Case().when(node.this, exp.Literal.number(1)))
        if isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64":
            return exp.Anonymous(this="hash", expressions=node.expressions)
        return node

    root: Any = sqlglot.parse_one(text, read="spark")
    return str(root.transform(own, copy=False).sql("duckdb", identify=True))


def _column(field: pa.Field, *, is_there: bool) -> str:
    """A column of files, null where they do not have it."""
    name = exp.to_identifier(field.name, quoted=True).sql("duckdb")
    return name if is_there else f"CAST(NULL AS {_TYPES.get(field.type, 'VARCHAR')}) AS {name}"


_TYPES: Final = {pa.int64(): "BIGINT", pa.int32(): "INTEGER", pa.bool_(): "BOOLEAN"}


def _plain(kind: pa.DataType) -> pa.DataType:
    """A type of DuckDB's answers as Spark's have it: sums of numbers are 128 bits wide there."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return pa.int64() if pa.types.is_decimal(kind) else kind


def _unreadable(place: Place, files: Sequence[ActiveFile], exc: duckdb.Error) -> KgroupsError:
    """Which of some files DuckDB cannot read, or that one is gone."""
    why = str(exc)
    named = next((file.path for file in files if file.path in why), None)
    if named is None or (isinstance(exc, duckdb.IOException) and "No files found" in why):
        return captures_changed(place)
    return broken_file(named, exc)
