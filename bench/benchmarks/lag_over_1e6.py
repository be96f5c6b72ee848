"""`lag report` over 1e6 rows of captures, whole process, beside DuckDB."""

from bench.lag_over import BesideDuckDB

BENCHMARK = BesideDuckDB(
    name="lag report over 1e6 rows, beside DuckDB",
    series=10_000,
    captures=100,
    max_times=25,
    rounds=3,
)
