"""Who answers the questions of `sql/`: Spark, or DuckDB on the same files.

Both get the same text, in Spark's SQL: whatever a report is made of, it is one query.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Protocol

import pyarrow as pa

from kgroups.core.lag.captures.delta_table import ActiveFile
from kgroups.core.lag.lag_query import EngineName
from kgroups.core.lag.stores.places import Place

_PARAMETER: Final = re.compile(r"(?<!:):([a-z_][a-z_0-9]*)")


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Rows that an engine has: a frame of Spark's, a table or view of DuckDB's by its name."""

    frame: Any


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """An answer that is not computed yet.

    Args:
        text: a query, in which `{name}` stands for a source and `:name` for a parameter.
    """

    text: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    sources: Mapping[str, "Frame"] = field(default_factory=dict)


Frame = Asked | Given


class WrongSql(ValueError):
    """The engine does not understand a query: a condition that a user wrote."""


class Engine(Protocol):
    """Runs SQL on rows and Parquet files."""

    @property
    def name(self) -> EngineName: ...

    def rows(self, table: pa.Table, *, few: bool = True) -> Given:
        """A table of the driver.

        Args:
            few: worth one task only.
        """

    def files(
        self, place: Place, files: Sequence[ActiveFile], schema: pa.Schema, *, few: bool
    ) -> Given:
        """The rows of files of one table; null what a file does not have.

        Args:
            schema: the columns wanted; `cluster`, `date` and `kind` are directories.
        Raises:
            KgroupsError: a file cannot be read.
        """

    def keep(self, answer: Frame) -> Given:
        """The same rows, computed once however often they are asked for."""

    def fetch(self, answer: Frame) -> pa.Table:
        """All rows, in the driver.

        Raises:
            WrongSql: it is not understood.
        """


@cache
def question(name: str) -> str:
    """The text of a file of `sql/`."""
    return files("kgroups.core.lag.sql").joinpath(f"{name}.sql").read_text(encoding="utf-8")


def quoted(name: str) -> str:
    """A column in SQL."""
    return f"`{name}`"


def listed(names: Sequence[str]) -> str:
    """Columns with commas between them."""
    return ", ".join(map(quoted, names))


class Query:
    """An answer and all that it is made of as one query: a `WITH` of the parts, each once.

    Attributes:
        text: in Spark's SQL; what the engine has stands in it as `source(number)`.
        parameters: of all parts; those of the same name and other values are told apart.
        given: what the engine has.
    """

    def __init__(self, answer: Frame) -> None:
        self.parameters: dict[str, object] = {}
        self.given: list[Given] = []
        self._names: dict[int, str] = {}
        self._parts: list[str] = []
        last = (
            self._text_of(answer)
            if isinstance(answer, Asked)
            else f"SELECT * FROM {self._name_of(answer)}"
        )
        parts = ",\n".join(self._parts)
        self.text = f"WITH {parts}\n(\n{last})" if parts else last

    def _name_of(self, frame: Frame) -> str:
        """The name of a part, which comes after those that it is made of."""
        if id(frame) not in self._names:
            if isinstance(frame, Given):
                self._names[id(frame)] = source(len(self.given))
                self.given.append(frame)
            else:
                text = self._text_of(frame)
                self._names[id(frame)] = f"asked_{len(self._parts)}"
                self._parts.append(f"{self._names[id(frame)]} AS (\n{text})")
        return self._names[id(frame)]

    def _text_of(self, answer: Asked) -> str:
        text = _PARAMETER.sub(lambda match: self._bound(match[1], answer), answer.text)
        for name, frame in answer.sources.items():
            text = text.replace(f"{{{name}}}", self._name_of(frame))
        return text

    def _bound(self, name: str, answer: Asked) -> str:
        if name not in answer.parameters:
            return f":{name}"
        value, own, number = answer.parameters[name], name, 0
        while own in self.parameters and self.parameters[own] != value:
            number += 1
            own = f"{name}_{number}"
        self.parameters[own] = value
        return f":{own}"


def source(number: int) -> str:
    """The placeholder in a query for something that the engine has."""
    return f"\0{number}\0"


def with_sources(text: str, names: Sequence[str]) -> str:
    """A query with the names of what the engine has."""
    for number, name in enumerate(names):
        text = text.replace(source(number), name)
    return text
