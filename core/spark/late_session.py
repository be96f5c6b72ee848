"""A session that starts when Spark is first needed: by then it is known what it will be asked."""

import contextlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from kgroups.core.errors import KgroupsError
from kgroups.core.spark.plans.frames import Frame
from kgroups.core.spark.session import (
    SPARK_ERRORS,
    Progress,
    SessionOptions,
    first_line,
    spark_session,
)

if TYPE_CHECKING:
    import pyarrow as pa

Start = Callable[[str | None], Any]


class LateSession:
    """Started by the first that asks for it; else as Spark's own.

    Args:
        start: starts it or gives the one that is there. It gets the query that comes first, if that
            is known.
        progress: told in a few words what is being waited for.
    """

    def __init__(self, start: Start, progress: Progress | None = None) -> None:
        self._start = start
        self._progress = progress or (lambda _text: None)
        self._steps: list[str] = []
        self._session: Any = None

    def started(self, query: str | None = None) -> Any:
        """Spark's session.

        Args:
            query: what it will be asked first.
        """
        if self._session is None:
            self._session = self._start(query)
            for text in self._steps:
                self._progress(text)
        return self._session

    def tell(self, text: str) -> None:
        """Say what is being waited for; while nothing is, once Spark has started."""
        if self._session is None:
            self._steps.append(text)
        else:
            self._progress(text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.started(), name)

    def rows(
        self, table: "pa.Table | Callable[[], pa.Table]", schema: StructType, *, few: bool
    ) -> Frame:
        """A table that Spark gets when it is asked, and of it what it is asked for.

        Args:
            table: the rows, or who has them once Spark has started.
            few: whether it is worth one task only.
        """
        return Frame(schema.names, given=GivenRows(self, table, schema, few=few))


class GivenRows:
    """Rows that Spark does not have yet."""

    def __init__(
        self,
        session: LateSession,
        table: "pa.Table | Callable[[], pa.Table]",
        schema: StructType,
        *,
        few: bool,
    ) -> None:
        self.session = session
        self._table, self._schema, self._few = table, schema, few

    def frame(self, names: Collection[str] | None = None) -> Any:
        """As Spark's frame, with some columns or all."""
        schema = self._cut(names)
        table = (self._table() if callable(self._table) else self._table).select(schema.names)
        if not table.num_rows:
            table = table.schema.empty_table()  # Spark takes no column without a chunk
        frame = self.session.started().createDataFrame(table, schema)
        return frame.coalesce(1) if self._few else frame

    def _cut(self, names: Collection[str] | None) -> StructType:
        fields = [field for field in self._schema if names is None or field.name.lower() in names]
        return StructType(fields or self._schema.fields[:1])  # of no column there are no rows


@contextlib.contextmanager
def running(
    session: SparkSession | SessionOptions | None, progress: Progress | None
) -> Iterator[LateSession]:
    """The session given, or one made when it is needed; what Spark throws is ours."""
    with contextlib.ExitStack() as started:

        def start(query: str | None) -> SparkSession:
            if session is not None and not isinstance(session, SessionOptions):
                return session
            options = replace(session or SessionOptions(), query=query)
            return started.enter_context(spark_session(options, progress))

        try:
            yield LateSession(start, progress)
        except SPARK_ERRORS as exc:  # says nothing any more once the session has ended
            raise spark_failure(exc) from exc


def spark_failure(exc: Exception) -> KgroupsError:
    """What Spark threw, as one sentence."""
    return KgroupsError(
        f"Spark failed: {first_line(exc)}",
        hint="run with --verbose for Spark's own messages",
        code="SPARK_FAILED",
    )
