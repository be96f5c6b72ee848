"""`lag report` over 1e8 rows of captures, whole process, beside DuckDB."""

from bench.lag_over import BesideDuckDB

BENCHMARK = BesideDuckDB(
    name="lag report over 1e8 rows, beside DuckDB",
    series=100_000,
    captures=1_000,
    max_times=2.5,
    rounds=1,
)
