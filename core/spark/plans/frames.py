"""Frames as one SQL query: Spark is asked when their rows are wanted, and not at every step.

PySpark has each step of a frame analysed by Spark, with every step before it: half of the time of a
report on few rows. A `Frame` has the methods of PySpark's that reports use, and all others by
becoming one (`spark_frame`).
"""

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from pyspark.sql import DataFrame

from kgroups.core.spark.plans.columns import Column, as_column, listed, named
from kgroups.core.spark.plans.functions import expr
from kgroups.core.spark.plans.selects import Select, mentioned, merged

P = ParamSpec("P")
R = TypeVar("R")


class Given(Protocol):
    """`late_session.GivenRows`."""

    @property
    def session(self) -> Any:
        """The session that gets them."""

    def frame(self, names: Collection[str] | None = None) -> Any:
        """As Spark's frame, with some columns or all."""


EVERY = Column("*")
"""All columns of a frame."""


class Frame:
    """A query that is not asked yet, or a frame of Spark that others are made of.

    Args:
        columns: their names, in order.
        query: a `SELECT`, or other text with frames between.
        is_steady: whether Spark knows that it has the same rows every time.
        source: the frame of Spark that it stands for; it has no query then.
        given: rows that Spark gets when they are asked for, in the place of `source`.
    """

    def __init__(
        self,
        columns: Iterable[str],
        query: "Select | Sequence[str | Frame]" = (),
        *,
        is_steady: bool = True,
        source: Any = None,
        given: "Given | None" = None,
    ) -> None:
        self.columns = list(columns)
        self.query = query
        self.is_steady: bool = is_steady and all(frame.is_steady for frame in self.frames)
        self._source, self._given = source, given

    @classmethod
    def of(cls, frame: Any) -> "Frame":
        """A frame of Spark, or one of ours as it is."""
        return frame if isinstance(frame, Frame) else cls(frame.columns, source=frame)

    @property
    def frames(self) -> "list[Frame]":
        """What it is made of, as often as it is named."""
        parts = self.query.source if isinstance(self.query, Select) else self.query
        return [part for part in parts if isinstance(part, Frame)]

    @property
    def spark_frame(self) -> Any:
        """Spark's own frame: here the query is asked, and wrong ones fail."""
        if self._source is None:
            self._source = self._asked() if self._given is None else self._given.frame()
        return self._source

    def _asked(self) -> Any:
        text, sources = query_text(self)
        # No other columns of what Spark is given.
        words = mentioned([text]) | {name.lower() for name in self.columns}
        frames = {}
        for name, node in sources.items():
            if node._given is None or node.is_asked:
                frames[name] = node.spark_frame
            else:
                node._given.session.started(text.format(**{name: name for name in sources}))
                frames[name] = node._given.frame(words)
        return next(iter(frames.values())).sparkSession.sql(text, **frames)

    @property
    def is_asked(self) -> bool:
        """Whether Spark has a frame of it."""
        return self._source is not None

    @property
    def is_source(self) -> bool:
        """Whether it is rows, and not a query."""
        return self.is_asked or self._given is not None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.spark_frame, name)

    def _made(self, columns: Iterable[Column | str], group: str | None = None) -> "Frame":
        """Columns of this frame, for each row or for those that are equal in `group`."""
        names: list[str] = []
        items = []
        steady, has_all = True, False
        for column in map(as_column, columns):
            if column.text == EVERY.text:
                items += [(name, named(name).text) for name in self.columns] if names else []
                has_all = not names
                names += self.columns
                continue
            if column.name is None:
                raise ValueError(f"`{column.text}` has no name")
            names.append(column.name)
            items.append((column.name, column.text))
            steady &= column.is_steady
        query = Select((self,), tuple(items), has_all, group=group)
        return Frame(names, query, is_steady=steady)

    # --- what PySpark's have too ---

    def select(self, *columns: Column | str) -> "Frame":
        """Some columns, in their order; `*` is all."""
        if not _are_ours(columns):
            return Frame.of(self.spark_frame.select(*columns))
        return self._made(EVERY if _is_star(column) else column for column in columns)

    def where(self, test: Column | str) -> "Frame":
        """The rows in which it is true."""
        if not isinstance(test, Column | str):
            return Frame.of(self.spark_frame.where(test))
        text = (expr(test) if isinstance(test, str) else test).text
        return Frame(self.columns, Select((self,), has_all=True, tests=(text,)))

    def withColumns(self, columns: Mapping[str, Column]) -> "Frame":
        """With further columns, or others in the place of those that are called so."""
        new = [column.alias(name) for name, column in columns.items() if name not in self.columns]
        if len(new) == len(columns):
            return self._made([EVERY, *new])
        kept = [
            columns[name].alias(name) if name in columns else named(name) for name in self.columns
        ]
        return self._made([*kept, *new])

    def withColumn(self, name: str, column: Column) -> "Frame":
        """With one more column, or another one in the place of that which is called so."""
        if not isinstance(column, Column):
            return Frame.of(self.spark_frame.withColumn(name, column))
        return self.withColumns({name: column})

    def drop(self, *names: str) -> "Frame":
        """Without some columns."""
        return self._made(name for name in self.columns if name not in names)

    def groupBy(self, *keys: Column | str) -> "Groups":
        """Rows put together, to be summed up."""
        return self.spark_frame.groupBy(*keys) if not _are_ours(keys) else Groups(self, keys)

    def agg(self, *columns: Column) -> "Frame":
        """All rows summed up as one."""
        return self.groupBy().agg(*columns)

    def join(self, other: Any, on: "Column | Sequence[str]", how: str = "inner") -> "Frame":
        """Rows beside those of another frame.

        Args:
            on: names that both have, once in the result; or a condition, where all names differ.
        """
        right = Frame.of(other)
        kind = how.replace("_", " ").upper()
        if isinstance(on, Column):
            names = [*self.columns, *right.columns]
            test = f" ON {on.text}"
        else:
            keys = [on] if isinstance(on, str) else list(on)
            rest = [name for name in right.columns if name not in keys]
            left = [name for name in self.columns if name not in keys]
            names = [*keys, *left, *rest]
            test = f" USING ({listed(keys)})"
        if kind in ("LEFT SEMI", "LEFT ANTI"):
            names = [name for name in names if name in self.columns]
        return Frame(names, Select((self, f" {kind} JOIN ", right, test), has_all=True))

    def unionByName(self, other: Any, allowMissingColumns: bool = False) -> "Frame":
        """The rows of both."""
        right = Frame.of(other)
        if allowMissingColumns or {*self.columns} != {*right.columns}:
            joined = self.spark_frame.unionByName(right.spark_frame, allowMissingColumns)
            return Frame.of(joined)
        parts = ("SELECT * FROM ", self, f" UNION ALL SELECT {listed(self.columns)} FROM ", right)
        return Frame(self.columns, parts)

    def orderBy(self, *columns: Column | str) -> "Frame":
        """In an order."""
        if not _are_ours(columns):
            return Frame.of(self.spark_frame.orderBy(*columns))
        return Frame(self.columns, Select((self,), has_all=True, order=listed(columns)))

    def limit(self, count: int) -> "Frame":
        """So many rows at most: the first, if there is an order."""
        return Frame(self.columns, Select((self,), has_all=True, limit=count))

    def dropDuplicates(self, names: Sequence[str]) -> "Frame":
        """One row of those in which some columns are equal."""
        rest = [
            Column(f"first({named(name).text})", name, is_steady=False)
            for name in self.columns
            if name not in names
        ]
        return self.groupBy(*names).agg(*rest).select(*self.columns)

    def distinct(self) -> "Frame":
        """Each row once."""
        return Frame(self.columns, (f"SELECT DISTINCT {listed(self.columns)} FROM ", self))

    def persist(self, *level: Any) -> "Frame":
        """The same, which Spark keeps once it is there."""
        self.spark_frame.persist(*level)
        return self

    def unpersist(self) -> None:
        """No longer."""
        if self.is_asked:
            self.spark_frame.unpersist()


class Groups:
    """Rows with the same keys."""

    def __init__(self, frame: Frame, keys: Sequence[Column | str]) -> None:
        self._frame, self._keys = frame, keys

    def agg(self, *columns: Column) -> Frame:
        """Each group summed up as one row: its keys, and these."""
        if not _are_ours(columns):
            keys = [key if isinstance(key, str) else key.name for key in self._keys]
            return Frame.of(self._frame.spark_frame.groupBy(*keys).agg(*columns))
        return self._frame._made([*self._keys, *columns], listed(self._keys))


def _is_star(column: Column | str) -> bool:
    return isinstance(column, str) and column == "*"


def _are_ours(columns: Iterable[object]) -> bool:
    return all(isinstance(column, Column | str) for column in columns)


def query_text(frame: Frame) -> tuple[str, dict[str, Frame]]:
    """A frame as one query, and those of Spark's rows that it names, by their names in it.

    What is used more than once is told once, ahead (`WITH`): Spark puts it where it is used. It
    would compute, shuffle and keep it if it did not know that it is the same every time, so such a
    frame is written out.
    """
    uses: dict[int, int] = {}

    def count(node: Frame) -> None:
        uses[id(node)] = uses.get(id(node), 0) + 1
        if uses[id(node)] == 1 and not node.is_source:
            for part in node.frames:
                count(part)

    count(frame)
    sources: dict[str, Frame] = {}
    texts: dict[int, str] = {}
    ahead: list[str] = []

    def text_of(node: Frame) -> str:
        if id(node) not in texts:
            texts[id(node)] = _named_text(node)
        return texts[id(node)]

    def _named_text(node: Frame) -> str:
        if node.is_source:
            name = f"source_{len(sources)}"
            sources[name] = node
            return f"{{{name}}}"
        query = _flat(node, uses)
        parts = query.parts if isinstance(query, Select) else query
        text = "".join(part if isinstance(part, str) else text_of(part) for part in parts)
        if node is frame:
            return text
        if uses[id(node)] == 1 or not node.is_steady:
            return f"({text})"
        ahead.append(f"part_{len(ahead)} AS ({text})")
        return f"part_{len(ahead) - 1}"

    body = text_of(frame)
    told = f"WITH {', '.join(ahead)} " if ahead else ""
    return told + (f"SELECT * FROM {body}" if frame.is_source else body), sources


def _flat(node: Frame, uses: Mapping[int, int]) -> "Select | Sequence[str | Frame]":
    """A frame's query, with those of frames that only it uses merged into it."""
    query = node.query
    while isinstance(query, Select) and len(query.source) == 1:
        (inner,) = query.source
        if not isinstance(inner, Frame) or inner.is_source or uses[id(inner)] > 1:
            break
        within = _flat(inner, uses)
        one = merged(query, within) if isinstance(within, Select) else None
        if one is None:
            break
        query = one
    return query


def as_text(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of frames work on text: what it gets of Spark's it gets as `Frame`.

    Where it gets one of Spark's frames, so does its caller: who builds frames in Spark sees no
    other ones.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = [*args, *kwargs.values()]
        is_ours = any(isinstance(value, Frame) for value in given)
        answer: Any = function(
            *(_as_frame(value) for value in args),
            **{name: _as_frame(value) for name, value in kwargs.items()},
        )
        if isinstance(answer, Frame) and not is_ours:
            answer = answer.spark_frame
        return cast("R", answer)

    return call


def asked(frame: DataFrame) -> DataFrame:
    """Spark's frame of one of ours: for what only Spark's have, and for who knows no other."""
    return cast("DataFrame", frame.spark_frame) if isinstance(frame, Frame) else frame


def to_ask(frame: DataFrame) -> DataFrame:
    """One of Spark's frames as ours, from which others can be made without asking."""
    return cast("DataFrame", Frame.of(frame))


def _as_frame(value: Any) -> Any:
    return Frame.of(value) if isinstance(value, DataFrame) else value


def together(frames: Mapping[str, Any]) -> Frame:
    """Frames as one query: a row of it has the row of one frame, as a struct called like it."""
    names = list(frames)
    halves: list[str | Frame] = []
    for own, given in frames.items():
        frame = Frame.of(given)
        row = f"struct({listed(frame.columns)})"
        items = [(name, row if name == own else "NULL") for name in names]
        halves += [" UNION ALL "] if halves else []
        halves += Select((frame,), tuple(items)).parts
    return Frame(names, halves)
