"""Two windows side by side: a report, the same report of some time before, and what changed."""

from collections.abc import Mapping, Sequence

from kgroups.core.lag.report_columns import COMPARED, compared_columns
from kgroups.core.lag.transforms import join_by
from kgroups.core.spark.plans.api import DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text


@as_text
def compared(
    now: DataFrame,
    before: DataFrame,
    keys: Sequence[str],
    figures: Mapping[str, bool] = COMPARED,
) -> DataFrame:
    """Rows of both reports, each key once.

    Args:
        now, before: from `trends.history_by`, or with planned assignments, by the same keys.
        figures: what is compared, and whether it is a number.
    Returns:
        The keys; `compared`: both, new (not there before) or gone; each figure as it is,
        `..._before` and, of numbers, `..._change`: null where one of the two is not known.
    """
    left, right = (
        frame.select(
            *keys,
            F.lit(True).alias(f"_is{suffix}"),
            *(F.col(name).alias(f"{name}{suffix}") for name in figures),
        )
        for frame, suffix in ((now, ""), (before, "_before"))
    )
    joined = join_by(left, right, keys, "full")
    is_now, was = F.col("_is").isNotNull(), F.col("_is_before").isNotNull()
    where = F.when(is_now & was, "both").when(is_now, "new").otherwise("gone")
    changes = [
        (F.col(name) - F.col(f"{name}_before")).alias(f"{name}_change")
        for name, is_number in figures.items()
        if is_number
    ]
    told = joined.select("*", where.alias("compared"), *changes)
    return told.select(*keys, *compared_columns(figures))
