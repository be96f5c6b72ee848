"""The columns of the pipeline's tables as Spark has them."""

from pyspark.sql.pandas.types import from_arrow_schema

from kgroups.core.lag.captures.table_columns import arrow_schema

ROWS = from_arrow_schema(arrow_schema("rows"))
MEMBERS = from_arrow_schema(arrow_schema("members"))
PLAN_MEMBERS = from_arrow_schema(arrow_schema("plan_members"))
TOPICS = from_arrow_schema(arrow_schema("topics"))
PLANS = from_arrow_schema(arrow_schema("plans"))
