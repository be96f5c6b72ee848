"""JSON and YAML text as plain values, and the lines of places in it."""

import json
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import yaml

from kgroups.core.errors import UsageError

Step = str | int


# Aliases let a short YAML text describe a huge document; no honest file comes near this.
MAX_YAML_VALUES: Final = 5_000_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


class _TwiceError(Exception):
    """A key that stands twice in one JSON object."""


def parse_json(text: str, name: str) -> object:
    """The value of a JSON text; `name` stands for the file in messages."""

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


def json_line(text: str, path: tuple[Step, ...], key: bool) -> int | None:
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


def parse_yaml(text: str, name: str) -> object:
    """The value of a YAML text; `name` stands for the file in messages."""
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


def yaml_line(text: str, path: tuple[Step, ...], key: bool) -> int | None:
    """Line of a path in a YAML text that is known to be well formed."""
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
