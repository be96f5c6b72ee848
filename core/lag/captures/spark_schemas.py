"""The schemas of `capture_tables` as Spark has them."""

from pyspark.sql.pandas.types import from_arrow_schema

from kgroups.core.lag.captures import capture_tables

ROWS = from_arrow_schema(capture_tables.ROWS)
MEMBERS = from_arrow_schema(capture_tables.MEMBERS)
PLAN_MEMBERS = from_arrow_schema(capture_tables.PLAN_MEMBERS)
TOPICS = from_arrow_schema(capture_tables.TOPICS)
PLANS = from_arrow_schema(capture_tables.PLANS)
