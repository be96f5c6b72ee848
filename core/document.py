"""Strict reading of JSON and YAML documents: every complaint names file, line and place.

A `Cursor` is a value together with the way that leads to it; its methods either give the value
back in the type that was asked for or raise a `UsageError` that says where and what was expected.
Lines are looked up only when something is wrong, so that reading a good file costs nothing extra.
"""

import difflib
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeVar

import yaml

from kgroups.core.errors import UsageError

Syntax = Literal["json", "yaml"]
Step = str | int
T = TypeVar("T")

YAML_SUFFIXES: Final = (".yaml", ".yml")

# Aliases let a short YAML text describe a huge document; no honest file comes near this.
MAX_YAML_VALUES: Final = 5_000_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its name for messages, its text for line numbers, its value."""

    name: str
    text: str
    syntax: Syntax
    value: object

    @property
    def root(self) -> "Cursor":
        """Cursor at the whole document."""
        return Cursor(self.value, self)

    def line_of(self, path: tuple[Step, ...], *, key: bool = False) -> int | None:
        """Line (from 1) of the value at this path, or of its key; None if it is not there."""
        find = _json_line if self.syntax == "json" else _yaml_line
        return find(self.text, path, key)


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
                self.fail(f"the key `{key}` is missing", hint=_accepted((*required, *optional)))
        return Fields(self, self.value)

    def text(self, choices: Collection[str] = ()) -> str:
        """A string, one of `choices` if there are any."""
        if not isinstance(self.value, str):
            hint = "put it in quotes" if self.document.syntax == "yaml" else None
            self._expected("text", hint=hint)
        if choices and self.value not in choices:
            close = difflib.get_close_matches(self.value, list(choices), 1)
            hint = f"did you mean `{close[0]}`?" if close else None
            self.fail(f"expected one of {_list(choices)}, found `{self.value}`", hint=hint)
        return self.value

    def integer(self, minimum: int | None = None, maximum: int | None = None) -> int:
        """A whole number within the bounds, both included."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self._expected("a whole number")
        if minimum is not None and self.value < minimum:
            self.fail(f"expected a whole number of at least {minimum}, found {self.value}")
        if maximum is not None and self.value > maximum:
            self.fail(f"expected a whole number of at most {maximum}, found {self.value}")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self._expected("true or false")
        return self.value

    def _expected(self, what: str, *, hint: str | None = None) -> NoReturn:
        self.fail(f"expected {what}, found {kind_of(self.value)}", hint=hint)

    def _unknown_key(self, key: str, accepted: Collection[str]) -> NoReturn:
        close = difflib.get_close_matches(key, list(accepted), 1)
        guess = f"did you mean `{close[0]}`? " if close else ""
        where = self.child(key, None)
        where.fail(f"the key `{key}` is not known", hint=guess + _accepted(accepted), key=True)


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


def read_document(path: Path) -> Document:
    """The parsed file; YAML by its suffix (`.yaml`, `.yml`), JSON otherwise.

    Raises:
        UsageError: the file cannot be read, is not UTF-8 or is not well formed.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise UsageError(f"`{path}` cannot be read: {reason}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{path}` is not UTF-8 text", hint="expected JSON or YAML") from error
    return parse_document(text, str(path), syntax_of(path))


def syntax_of(path: Path) -> Syntax:
    """What a file of this name holds."""
    return "yaml" if path.suffix.lower() in YAML_SUFFIXES else "json"


def parse_document(text: str, name: str, syntax: Syntax) -> Document:
    """The parsed text; `name` stands for the file in messages.

    Raises:
        UsageError: not well formed; a key twice in one mapping; a YAML alias to its own parent.
    """
    value = _parse_json(text, name) if syntax == "json" else _parse_yaml(text, name)
    return Document(name, text, syntax, value)


def show_path(path: tuple[Step, ...]) -> str:
    """`items[0].members[2].rack` for a path of keys and positions."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        else:
            shown += f".{step}" if shown else step
    return shown


def kind_of(value: object) -> str:
    """What a value is, in the words of a message."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text `{value if len(value) <= 40 else value[:37] + '...'}`"
    return "a list" if isinstance(value, list) else "a mapping"


def _list(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _accepted(names: Collection[str]) -> str:
    return f"accepted keys: {_list(names)}"


class _TwiceError(Exception):
    """A key that stands twice in one JSON object."""


def _parse_json(text: str, name: str) -> object:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise _TwiceError(key)
                seen.add(key)
        return mapping

    def no_constant(constant: str) -> NoReturn:
        raise UsageError(f"`{name}`: `{constant}` is not a JSON value")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"`{name}`, line {error.lineno}: not JSON: {error.msg} at column {error.colno}",
            hint="a YAML file must be called `.yaml` or `.yml`",
        ) from error
    except _TwiceError as error:
        line = _second_key_line(text, str(error))
        raise UsageError(
            f"`{name}`{line}: the key `{error}` stands twice in one mapping"
        ) from error
    except RecursionError as error:
        raise UsageError(f"`{name}`: nested too deeply") from error


def _second_key_line(text: str, key: str) -> str:
    """`, line N` of the key if it stands exactly twice in the text, else nothing."""
    quoted = json.dumps(key)
    first = text.find(quoted)
    second = text.find(quoted, first + 1)
    if second < 0 or text.find(quoted, second + 1) >= 0:
        return ""
    return f", line {text.count(chr(10), 0, second) + 1}"


_DECODER = json.JSONDecoder()
_BLANK = " \t\n\r"


def _json_line(text: str, path: tuple[Step, ...], key: bool) -> int | None:
    """Line of a path in a JSON text that is known to be well formed."""
    position = key_position = _skip(text, 0)
    for step in path:
        found = _json_step(text, position, step)
        if found is None:
            break
        key_position, position = found
    return text.count("\n", 0, key_position if key else position) + 1


def _json_step(text: str, position: int, step: Step) -> tuple[int, int] | None:
    """Positions of the key and of the value one step down, or None if it is not there."""
    opening = text[position]
    if opening not in "{[":
        return None
    position = _skip(text, position + 1)
    index = 0
    while text[position] not in "}]":
        key_position = position
        here: Step = index
        if opening == "{":
            here, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        if here == step:
            return key_position, position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1
    return None


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def _parse_yaml(text: str, name: str) -> object:
    try:
        node = yaml.compose(text, Loader=_LOADER)
        if node is None:
            raise UsageError(f"`{name}` is empty", hint="expected a mapping")
        return _YamlReader(name).value(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise UsageError(f"`{name}`{line}: not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"`{name}`: not YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise UsageError(f"`{name}`: nested too deeply") from error


class _YamlReader:
    """Turns YAML nodes into plain values; keys must be text and stand once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.open: set[int] = set()
        self.count = 0
        self.scalars = yaml.SafeLoader("")

    def value(self, node: yaml.Node) -> object:
        self.count += 1
        if self.count > MAX_YAML_VALUES:
            self._fail(node, f"more than {MAX_YAML_VALUES} values; are the aliases right?")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if node.tag not in _PLAIN_TAGS:
            self._fail(node, f"the tag `{node.tag}` has no meaning here")
        if id(node) in self.open:
            self._fail(node, "an alias refers to the value that it stands in")
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.value(child) for child in node.value]
            return self._mapping(node)
        finally:
            self.open.discard(id(node))

    def _mapping(self, node: yaml.Node) -> dict[str, object]:
        mapping: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._fail(key_node, "a key must be text")
            # `8: x` and `no: x` are read as the text that is written there.
            key = str(key_node.value)
            if key in mapping:
                self._fail(key_node, f"the key `{key}` stands twice in one mapping")
            mapping[key] = self.value(value_node)
        return mapping

    def _scalar(self, node: yaml.ScalarNode) -> object:
        if node.tag == _TIMESTAMP:
            return node.value
        try:
            return self.scalars.construct_object(node)
        except yaml.MarkedYAMLError as error:
            self._fail(node, f"not YAML: {error.problem}")
        except ValueError as error:
            self._fail(node, f"not a value: {error}")

    def _fail(self, node: yaml.Node, what: str) -> NoReturn:
        raise UsageError(f"`{self.name}`, line {node.start_mark.line + 1}: {what}")


def _yaml_line(text: str, path: tuple[Step, ...], key: bool) -> int | None:
    node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    key_node = node
    for step in path:
        pairs = _yaml_children(node)
        found = next(((k, v) for name, k, v in pairs if name == step), None)
        if found is None:
            break
        key_node, node = found
    shown = key_node if key else node
    return None if shown is None else int(shown.start_mark.line) + 1


def _yaml_children(node: yaml.Node | None) -> Iterator[tuple[Step, yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            yield str(key_node.value), key_node, value_node
    elif isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            yield index, child, child
