"""`lag report` over 1e7 rows of captures, whole process, beside DuckDB."""

from bench.lag_over import BesideDuckDB

BENCHMARK = BesideDuckDB(
    name="lag report over 1e7 rows, beside DuckDB",
    series=100_000,
    captures=100,
    max_times=10,
    rounds=3,
)
