"""Frames as text give the rows that the same calls of PySpark give, whatever names and values."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as SF

from kgroups.core.spark.plans import functions as F
from kgroups.core.spark.plans.columns import Window, literal
from kgroups.core.spark.plans.frames import Frame, as_text, query_text, together

pytestmark = pytest.mark.spark

HOSTILE = (
    "it's",
    'a "quote"',
    "back\\slash",
    "\\'; --",
    "{x} {0}",
    "${env:HOME}",
    "a\nb",
    "\\%_",
    "é",
)
VALUES: tuple[Any, ...] = (None, True, 0, -3, 1 << 40, 0.1, -2.5, 1e-9, 1e20, *HOSTILE)


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Two keys, one of them unknown once, numbers and what is not known."""
    return spark.createDataFrame(
        [("a", 1, 5), ("a", 2, None), ("b", 3, 7), (None, 4, 1), ("b", 5, 7)],
        "`key` string, n int, `a b{c}` long",
    )


def same(frame: Any, expected: DataFrame) -> None:
    """Equal rows, in the same order, and equal columns with their types."""
    found = frame.spark_frame
    assert [(f.name, f.dataType) for f in found.schema] == [
        (f.name, f.dataType) for f in expected.schema
    ]
    assert found.collect() == expected.collect()


def test_values_are_what_pyspark_makes_of_them(spark: SparkSession) -> None:
    """No value ends its quotes, names a variable or a frame, or gets another type."""
    one = spark.range(1)
    ours = Frame.of(one).select(*(literal(v).alias(f"v{n}") for n, v in enumerate(VALUES)))
    same(ours, one.select(*(SF.lit(v).alias(f"v{n}") for n, v in enumerate(VALUES))))


def chain(frame: Any, f: Any, window: Any) -> Any:
    """Most of what reports use, in one query."""
    newest = window.partitionBy("key").orderBy(f.desc_nulls_last("n"))
    so_far = newest.rowsBetween(window.unboundedPreceding, window.currentRow)
    odd = f.col("a b{c}")
    steps = frame.select(
        "*",
        f.lag("n").over(newest).alias("before"),
        f.first("n").over(so_far).alias("newest"),
        f.when(odd > 5, "much").when(odd.isNull(), None).otherwise("{little}").alias("size"),
        f.coalesce(odd, f.lit(0)).alias("odd"),
    )
    sums = (
        steps.withColumns(
            {"n": f.col("n") * 2, "is_even": (f.col("n") / 2) == f.floor(f.col("n") / 2)}
        )
        .where(f.col("odd").between(0, 7) & ~f.col("n").isin(100, 200))
        .groupBy("key")
        .agg(
            f.count(f.lit(1)).alias("rows"),
            f.count_if("is_even").alias("even"),
            f.sum("odd").alias("odd"),
            f.max_by("size", "n").alias("size"),
            f.percentile_approx("n", [0.5], 10).alias("half"),
        )
    )
    keys = frame.select("key").dropDuplicates(["key"]).withColumn("is_there", f.lit(True))
    joined = sums.join(keys, ["key"], "full").join(keys.drop("is_there"), ["key"], "left_semi")
    both = joined.unionByName(joined.select("is_there", *joined.columns[:-1]))
    return both.orderBy(f.asc_nulls_last("key"), "rows").limit(5)


def test_a_chain_is_what_pyspark_makes_of_it(rows: DataFrame) -> None:
    """The same calls on both."""
    same(chain(Frame.of(rows), F, Window), chain(rows, SF, SparkWindow))


def test_what_is_used_twice_is_told_once(rows: DataFrame) -> None:
    """Ahead of the query, unless Spark would keep it as it may differ each time."""
    sums = Frame.of(rows).groupBy("key").agg(F.sum("n").alias("n"))
    text, sources = query_text(sums.join(sums, ["key", "n"]))
    assert text.count("GROUP BY") == 1
    assert [source.spark_frame for source in sources.values()] == [rows]
    first = Frame.of(rows).dropDuplicates(["key"])
    assert query_text(first.join(first, ["key"]))[0].count("GROUP BY") == 2


def test_a_column_without_a_name_is_refused(rows: DataFrame) -> None:
    """Spark would make one up of its text."""
    with pytest.raises(ValueError, match="has no name"):
        Frame.of(rows).select(F.col("n") + 1)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(F.col("n") > 1)


def test_columns_of_pyspark_are_taken_too(rows: DataFrame) -> None:
    """Who mixes both gets rows all the same."""
    frame: Any = Frame.of(rows).where(F.col("n") > 2)
    assert frame.where(SF.col("n") < 5).select(SF.col("n")).count() == 2
    assert frame.orderBy(SF.desc("n")).groupBy("key").agg(SF.max("n").alias("n")).count() == 2


def test_a_function_gives_back_the_kind_that_it_gets(rows: DataFrame) -> None:
    """Spark's for Spark's."""

    @as_text
    def doubled(frame: Any, by: int) -> Any:
        assert isinstance(frame, Frame)
        return frame.withColumn("n", F.col("n") * by)

    assert isinstance(doubled(Frame.of(rows), by=2), Frame)
    found = doubled(rows, 2)
    assert isinstance(found, DataFrame)
    assert [row.n for row in found.collect()] == [2, 4, 6, 8, 10]


def test_frames_are_asked_together(rows: DataFrame) -> None:
    """Rows of several frames by one query, each in its order."""
    frames = {
        "few": Frame.of(rows).orderBy(F.desc("n")).limit(2),
        "it's {all}": rows.select("key"),
        "none": Frame.of(rows).where(F.col("n") > 9),
    }
    found = together(frames).spark_frame.collect()
    assert [row[0].n for row in found if row[0]] == [5, 4]
    assert [row[1].key for row in found if row[1]] == ["a", "a", "b", None, "b"]
    assert not [row for row in found if row[2]]


def levels(frame: Any, f: Any, window: Any) -> dict[str, Any]:
    """Selects around selects, by what the outer one makes of the inner one."""
    so_far = window.partitionBy("key").orderBy("n")
    doubled = frame.withColumn("n", f.col("n") * 2)
    counted = frame.withColumn("place", f.row_number().over(so_far))
    sums = frame.groupBy("key").agg(f.sum("n").alias("n"), f.max("n").alias("most"))
    last = frame.orderBy(f.desc("n")).limit(3)
    one = f.lit(1)
    return {
        "its names": doubled.select("key", "n").drop("key"),
        "other columns": doubled.withColumn("size", f.coalesce("a b{c}", one)),
        "what is computed": doubled.withColumn("n", f.col("n") + 1).where(f.col("n") > 5),
        "rows, and then columns": frame.where(f.col("n") > 2).where("n < 5").select("n"),
        "rows of a window": counted.where(f.col("place") == 1).orderBy("n"),
        "a window of some rows": frame.where(f.col("n") > 1)
        .withColumn("place", f.row_number().over(so_far))
        .orderBy("n"),
        "sums of what is computed": doubled.groupBy("key").agg(f.sum("n").alias("n")).orderBy("n"),
        "sums of a window": counted.groupBy("place").agg(f.count(one).alias("n")).orderBy("place"),
        "rows of sums": sums.where(f.col("n") > 3).orderBy("n").select("most", "n"),
        "few of sums": sums.select("n").orderBy("n").limit(2),
        "few, and of these some": last.where(f.col("n") > 3).orderBy("n"),
        "few, and of these fewer": last.limit(2),
        "in another order": last.orderBy("n"),
        "an order by what is computed": frame.withColumn("m", -f.col("n")).orderBy("m").limit(2),
        "an order by what was computed anew": doubled.withColumn("n", -f.col("n")).orderBy("n"),
        "columns of what is joined": frame.join(sums.drop("n"), ["key"], "left")
        .withColumn("more", f.col("most") + 1)
        .where(f.col("n") > 1)
        .orderBy("n"),
        "rows that were several": frame.select(
            "key", "n", f.expr("explode(array(1, 2))").alias("each")
        )
        .select("key", "n")
        .orderBy("n"),
        "all, behind one": frame.select(f.col("n").alias("first"), "*"),
    }


@pytest.fixture(scope="module")
def expected_levels(rows: DataFrame) -> dict[str, DataFrame]:
    """What PySpark makes of them."""
    return levels(rows, SF, SparkWindow)


@pytest.mark.parametrize("kind", levels(Frame(["key", "n", "a b{c}"]), F, Window))
def test_selects_that_are_merged_say_the_same(
    rows: DataFrame, expected_levels: dict[str, DataFrame], kind: str
) -> None:
    """As many as there are."""
    same(levels(Frame.of(rows), F, Window)[kind], expected_levels[kind])


@pytest.mark.parametrize(
    ("kind", "selects"),
    [
        ("its names", 1),
        ("other columns", 1),
        ("what is computed", 3),
        ("rows, and then columns", 1),
        ("rows of a window", 2),
        ("few, and of these fewer", 2),
        ("an order by what is computed", 1),
        ("columns of what is joined", 2),
    ],
)
def test_a_select_around_another_is_one_where_it_can_be(kind: str, selects: int) -> None:
    """What is computed is not written out where it is used."""
    frame = levels(Frame.of(Table(["key", "n", "a b{c}"])), F, Window)[kind]
    assert query_text(frame)[0].count("SELECT") == selects


class Table:
    """A frame that nobody asks."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns
