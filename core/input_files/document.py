"""Strict reading of JSON, YAML and properties: every complaint names file, line and place.

A `Cursor` is a value together with the way that leads to it; its methods either give the value
back in the type that was asked for or raise a `UsageError` that says where and what was expected.
Lines are looked up only when something is wrong, so that reading a good file costs nothing extra.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeVar

from kgroups.core.errors import UsageError, meant, shorten
from kgroups.core.input_files.files import MIB, decode, read_file
from kgroups.core.input_files.json_text import Step, check_json_cost, json_line, parse_json
from kgroups.core.input_files.properties import parse_properties, property_line
from kgroups.core.input_files.yaml_text import parse_yaml, yaml_line

Syntax = Literal["json", "yaml", "properties"]
T = TypeVar("T")

YAML_SUFFIXES: Final = (".yaml", ".yml")

MAX_BYTES: Final[dict[Syntax, int]] = {"json": 96 * MIB, "yaml": 32 * MIB, "properties": MIB}
"""A snapshot takes some 360 bytes a partition in JSON: this is one of a quarter million."""

MAX_INT64: Final = 2**63 - 1

_LINES: Final[Mapping[Syntax, Callable[[str, tuple[Step, ...], bool], int | None]]] = {
    "json": json_line,
    "yaml": yaml_line,
    "properties": property_line,
}
_FLAGS: Final = {"true": True, "false": False}
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}(\.[0-9]{1,19})?")
_SHOWN: Final = 60
_LONGEST_PATH: Final = 300


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file, or a line of one: its name, its text for line numbers, and its value."""

    name: str
    text: str
    syntax: Syntax
    value: object
    first_line: int = 1

    @property
    def root(self) -> "Cursor":
        """Cursor at the whole document."""
        return Cursor(self.value, self)

    def line_of(self, path: tuple[Step, ...], *, key: bool = False) -> int | None:
        """Line (from 1) of the value at this path, or of its key; None if it is not there."""
        line = _LINES[self.syntax](self.text, path, key)
        return None if line is None else line + self.first_line - 1


@dataclass(frozen=True, slots=True)
class Cursor:
    """A value of a document and the step from its parent that leads to it."""

    value: object
    document: Document
    parent: "Cursor | None" = None
    step: Step = ""

    @property
    def path(self) -> tuple[Step, ...]:
        """Keys and list positions from the root to here."""
        steps: list[Step] = []
        here: Cursor | None = self
        while here is not None and here.parent is not None:
            steps.append(here.step)
            here = here.parent
        return tuple(reversed(steps))

    @property
    def plain(self) -> object:
        """The value; of a number or a flag in quotes, which are text in YAML, what it says."""
        value = self.value
        if self.document.syntax != "yaml" or not isinstance(value, str):
            return value
        if value in _FLAGS:
            return _FLAGS[value]
        number = _NUMBER.fullmatch(value)
        return value if number is None else float(value) if number[1] else int(value)

    @property
    def number(self) -> float | None:
        """The value, where it is a number."""
        value = self.plain
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return value

    def fail(self, what: str, *, hint: str | None = None, key: bool = False) -> NoReturn:
        """Raise a `UsageError` with file, line and place before `what`."""
        path = self.path
        line = self.document.line_of(path, key=key)
        where = f"`{self.document.name}`" + (f", line {line}" if line is not None else "")
        place = f", `{show_path(path)}`" if path else ""
        raise UsageError(f"{where}{place}: {what}", hint=hint)

    def child(self, step: Step, value: object) -> "Cursor":
        """Cursor one step further down."""
        return Cursor(value, self.document, self, step)

    def entries(self) -> Iterator[tuple[str, "Cursor"]]:
        """Key and value of a mapping whose keys are free, in the order of the file."""
        if not isinstance(self.value, dict):
            self._expected("a mapping")
        for key, value in self.value.items():
            yield key, self.child(key, value)

    def items(self) -> Iterator["Cursor"]:
        """The entries of a list, in order."""
        if not isinstance(self.value, list):
            self._expected("a list")
        for index, value in enumerate(self.value):
            yield self.child(index, value)

    def fields(self, required: Collection[str], optional: Collection[str] = ()) -> "Fields":
        """The fields of a mapping whose keys are fixed.

        Raises:
            UsageError: not a mapping, a required key is missing, a key is not known.
        """
        if not isinstance(self.value, dict):
            self._expected("a mapping")
        for key in self.value:
            if key not in required and key not in optional:
                self._unknown_key(key, (*required, *optional))
        for key in required:
            if key not in self.value:
                self.fail(f"missing key `{key}`", hint=_accepted((*required, *optional)))
        return Fields(self, self.value)

    def text(self, choices: Collection[str] = ()) -> str:
        """A string, one of `choices` if there are any."""
        if not isinstance(self.value, str):
            hint = "put it in quotes" if self.document.syntax == "yaml" else None
            self._expected("text", hint=hint)
        if choices and self.value not in choices:
            shown = shorten(self.value, _SHOWN)
            wrong = f"expected one of {_list(choices)}, found `{shown}`"
            self.fail(wrong, hint=_meant(self.value, choices))
        return self.value

    def choice(self, choices: Collection[T]) -> T:
        """One of these strings."""
        text = self.text([str(choice) for choice in choices])
        return next(choice for choice in choices if choice == text)

    def integer(self, minimum: int | None = None, maximum: int | None = None) -> int:
        """A whole number within the bounds, both included, and within 64 bits in any case."""
        value = self.value if type(self.value) is int else self.plain
        if isinstance(value, bool) or not isinstance(value, int):
            self._expected("a whole number")
        minimum = -MAX_INT64 - 1 if minimum is None else minimum
        maximum = MAX_INT64 if maximum is None else maximum
        if value < minimum:
            shown = show_number(value)
            self.fail(f"expected a whole number of at least {minimum}, found {shown}")
        if value > maximum:
            shown = show_number(value)
            self.fail(f"expected a whole number of at most {maximum}, found {shown}")
        return value

    def flag(self) -> bool:
        """True or false."""
        value = self.plain
        if not isinstance(value, bool):
            self._expected("true or false")
        return value

    def _expected(self, what: str, *, hint: str | None = None) -> NoReturn:
        self.fail(f"expected {what}, found {kind_of(self.value)}", hint=hint)

    def _unknown_key(self, key: str, accepted: Collection[str]) -> NoReturn:
        hint = " ".join(filter(None, (_meant(key, accepted), _accepted(accepted))))
        what = f"unknown key `{shorten(key, _SHOWN)}`"
        self.child(key, None).fail(what, hint=hint, key=True)


def choice_of(choices: Collection[T]) -> Callable[[Cursor], T]:
    """Reads one of these strings."""
    return lambda cursor: cursor.choice(choices)


def integer_of(minimum: int | None = None, maximum: int | None = None) -> Callable[[Cursor], int]:
    """Reads a whole number within these bounds."""
    return lambda cursor: cursor.integer(minimum, maximum)


Readers = Mapping[str, tuple[str, Callable[[Cursor], object]]]


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one mapping, already checked for unknown and missing keys."""

    cursor: Cursor
    values: dict[str, object]

    def __getitem__(self, key: str) -> Cursor:
        """Cursor at a field that is there."""
        return self.cursor.child(key, self.values[key])

    def optional(self, key: str, read: Callable[[Cursor], T]) -> T | None:
        """The field read by `read`; None if it is absent or null."""
        value = self.values.get(key)
        return None if value is None else read(self.cursor.child(key, value))

    def given(self, readers: Readers) -> dict[str, Any]:
        """The fields that are there and not null, by attribute: a record has the defaults.

        Args:
            readers: key to the attribute that it stands for, and how it is read.
        """
        return {
            attribute: read(self[key])
            for key, (attribute, read) in readers.items()
            if self.values.get(key) is not None
        }


def read_document(path: Path, syntax: Syntax | None = None) -> Document:
    """The parsed file, in this syntax; without one YAML by its suffix, JSON otherwise.

    Raises:
        UsageError: the file cannot be read, is longer than any honest one, is not UTF-8 or is
            not well formed.
    """
    syntax = syntax or syntax_of(path)
    expected = "`key=value` lines" if syntax == "properties" else "JSON or YAML"
    data = read_file(path, MAX_BYTES[syntax], expected)
    if syntax == "json":
        check_json_cost(data, str(path))
    text = decode(data, str(path), expected)
    del data  # half of the memory that a long file takes
    return parse_document(text, str(path), syntax)


def syntax_of(path: Path) -> Syntax:
    """The format of a file of this name."""
    return "yaml" if path.suffix.lower() in YAML_SUFFIXES else "json"


def parse_document(text: str, name: str, syntax: Syntax) -> Document:
    """The parsed text; `name` stands for the file in messages.

    Raises:
        UsageError: not well formed; a key twice in one mapping; a YAML alias to its own parent.
    """
    if syntax == "properties":
        properties = parse_properties(text, name)
        return Document(name, text, syntax, {key: entry.value for key, entry in properties.items()})
    value = parse_json(text, name) if syntax == "json" else parse_yaml(text, name)
    return Document(name, text, syntax, value)


def show_path(path: tuple[Step, ...]) -> str:
    """`items[0].members[2].rack` for a path of keys and positions."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        else:
            name = shorten(step, _SHOWN)
            shown += f".{name}" if shown else name
    return shown if len(shown) <= _LONGEST_PATH else f"…{shown[-_LONGEST_PATH:]}"


def kind_of(value: object) -> str:
    """The type of a value, in the words of a message."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"the number {show_number(value)}"
    if isinstance(value, str):
        return f"the string `{value if len(value) <= 40 else value[:37] + '...'}`"
    return "a list" if isinstance(value, list) else "a mapping"


def show_number(value: float) -> str:
    """A number for messages, however many digits it has."""
    if isinstance(value, int) and abs(value) > 10 * MAX_INT64:
        return f"a number of {value.bit_length()} bits"
    return str(value)


def _meant(text: str, names: Collection[str]) -> str | None:
    """The name that was probably meant; comparing takes time by the square of the length."""
    return meant(text, names) if len(text) <= _SHOWN else None


def _list(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _accepted(names: Collection[str]) -> str:
    return f"accepted keys: {_list(dict.fromkeys(names))}"
