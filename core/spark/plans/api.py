"""The names that modules of reports write their queries with.

To whoever checks types they are PySpark's, whose names and meaning they have; when they run they
are text (`frames`). Frames of Spark may be put in everywhere.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Window, functions
else:
    from kgroups.core.spark.plans import functions
    from kgroups.core.spark.plans.columns import Column, Window
    from kgroups.core.spark.plans.frames import Frame

    DataFrame = Frame

__all__ = ["Column", "DataFrame", "Window", "functions"]
