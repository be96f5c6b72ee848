"""A query that is known before Spark has started: its JVM parses it while the context starts.

To parse a first query takes half a second: classes are loaded, and the parser learns the grammar's
decisions by making them. Later ones take a twentieth of that. (Resolving is not worth it: that is
work each time.) What comes of it is thrown away, and what fails is left to the query itself.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

# The thread is waited for so long; Spark goes on without it then.
LONGEST_S: Final = 20.0


@contextlib.contextmanager
def parsed_meanwhile(jvm: Any, query: str | None) -> Iterator[None]:
    """Has the JVM parse a query during the block."""
    if query is None:
        yield
        return

    def look() -> None:
        with contextlib.suppress(Py4JError, PySparkException, OSError):
            parse(jvm, query)

    thread = threading.Thread(target=look, name="kgroups-query-ahead", daemon=True)
    thread.start()
    yield
    thread.join(LONGEST_S)


def parse(jvm: Any, query: str) -> Any:
    """What Spark makes of a query's text, without a session.

    Raises:
        Py4JError, PySparkException: it is not SQL.
    """
    return jvm.org.apache.spark.sql.execution.SparkSqlParser().parsePlan(query)
