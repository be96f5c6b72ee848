"""YAML text as plain values, and the lines of places in it.

Values are made of libyaml's events, one after the other: its trees of nodes take a kilobyte for
each value, and the C code that builds them calls itself for each level.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import yaml

from kgroups.core.errors import UsageError, shorten

Step = str | int

# Aliases let a short YAML text describe a huge document; no honest file comes near these.
MAX_YAML_VALUES: Final = 2_000_000
MAX_DEPTH: Final = 100
_MOST_PLAIN: Final = 1 << 16

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_TEXTS: Final = (f"{_TAG}str", f"{_TAG}timestamp")
_NUMBERS: Final = (f"{_TAG}null", f"{_TAG}bool", f"{_TAG}int", f"{_TAG}float")
_STARTS: Final = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_ENDS: Final = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
_CONTAINERS: Final = (None, "!", f"{_TAG}map", f"{_TAG}seq")


def parse_yaml(text: str, name: str) -> object:
    """The value of a YAML text; `name` stands for the file in messages.

    Raises:
        UsageError: not well formed; a key twice in one mapping; an alias to its own parent;
            nested too deeply; more values than any honest document.
    """
    try:
        return _YamlReader(name).read(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise UsageError(f"`{name}`{line}: not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        problem = shorten(" ".join(str(error).split()))
        raise UsageError(f"`{name}`: not YAML: {problem}") from error
    except UnicodeEncodeError as error:  # half a surrogate pair
        raise UsageError(f"`{name}`: not YAML: a string contains a lone surrogate") from error


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read.

    Args:
        anchor: by which aliases refer to it.
        key: of a mapping, if the next value is that of a key; with the line of the key.
        size: values in it so far, itself included.
    """

    values: list[object] | dict[str, object]
    anchor: str | None
    line: int
    key: str | None = None
    size: int = 1


@dataclass(slots=True)
class _YamlReader:
    """Turns events into plain values; keys must be text and stand once.

    Args:
        plain: what scalars without quotation marks mean, of those that were met last.
    """

    name: str
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[object, int]] = field(default_factory=dict)
    scalars: Any = field(default_factory=lambda: yaml.SafeLoader(""))
    plain: dict[str, object] = field(default_factory=dict)
    count: int = 0

    def read(self, text: str) -> object:
        """The value of the only document in the text."""
        documents = 0
        values: list[object] = []
        for event in yaml.parse(text, Loader=_LOADER):
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event, values)
            elif kind in _STARTS:
                self._begin(event)
            elif kind in _ENDS:
                ended = self.open.pop()
                self._put(event, ended.values, ended.size, ended.anchor, values)
            elif kind is yaml.AliasEvent:
                value, size = self._aliased(event)
                self._count(event, size)
                self._put(event, value, size, None, values)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    self._fail(event, "expected a single document, found another one")
        if not values:
            raise UsageError(f"`{self.name}` is empty", hint="expected a mapping")
        return values[0]

    def _begin(self, event: Any) -> None:
        if self.open and isinstance(self.open[-1].values, dict) and self.open[-1].key is None:
            self._fail(event, "a key must be a string")
        if event.tag not in _CONTAINERS:
            self._fail(event, f"the tag `{shorten(event.tag)}` is not supported")
        if len(self.open) == MAX_DEPTH:
            self._fail(event, "nested too deeply")
        self._count(event, 1)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        line = event.start_mark.line + 1
        self.open.append(_Open([] if is_list else {}, event.anchor, line))

    def _aliased(self, event: Any) -> tuple[object, int]:
        for outer in self.open:
            if outer.anchor == event.anchor:
                raise UsageError(
                    f"`{self.name}`, line {outer.line}: an alias refers to a value that contains it"
                )
        if event.anchor not in self.anchors:
            self._fail(event, f"not YAML: found undefined alias {shorten(repr(event.anchor))}")
        return self.anchors[event.anchor]

    def _count(self, event: Any, size: int) -> None:
        """Values that come to the document; of an alias all that it stands for."""
        self.count += size
        if self.count > MAX_YAML_VALUES:
            self._fail(event, f"more than {MAX_YAML_VALUES} values; check the aliases")

    def _put(
        self, event: Any, value: object, size: int, anchor: str | None, values: list[object]
    ) -> None:
        """A value at its place."""
        if anchor is not None:
            self.anchors[anchor] = (value, size)
        if not self.open:
            values.append(value)
            return
        parent = self.open[-1]
        parent.size += size
        if isinstance(parent.values, list):
            parent.values.append(value)
        elif parent.key is None:
            self._fail(event, "a key must be a string")
        else:
            parent.values[parent.key] = value
            parent.key = None

    def _scalar(self, event: Any, values: list[object]) -> None:
        parent = self.open[-1] if self.open else None
        if parent is not None and isinstance(parent.values, dict) and parent.key is None:
            # `8: x` and `no: x` are read as the text that is written there.
            if event.value in parent.values:
                key = shorten(event.value)
                self._fail(event, f"the key `{key}` appears twice in one mapping")
            parent.key = str(event.value)
            if event.anchor is not None:
                self.anchors[event.anchor] = (parent.key, 1)
            return
        self._count(event, 1)
        self._put(event, self._scalar_value(event), 1, event.anchor, values)

    def _scalar_value(self, event: Any) -> object:
        if event.tag is not None:
            return self._resolved(event)
        text, is_plain = event.value, event.implicit[0]
        if not is_plain or text in self.plain:
            return self.plain[text] if is_plain else text
        value = self._resolved(event)
        if len(self.plain) == _MOST_PLAIN:
            self.plain.clear()
        self.plain[text] = value
        return value

    def _resolved(self, event: Any) -> object:
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.scalars.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag in _TEXTS:
            return event.value
        if tag not in _NUMBERS:
            self._fail(event, f"the tag `{shorten(tag)}` is not supported")
        node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        try:
            value = yaml.SafeLoader.yaml_constructors[tag](self.scalars, node)
        except yaml.MarkedYAMLError as error:
            self._fail(event, f"not YAML: {error.problem}")
        except (ValueError, KeyError, OverflowError):
            self._fail(event, f"`{shorten(event.value, 40)}` is not a value")
        if isinstance(value, float) and not math.isfinite(value):
            self._fail(event, f"`{shorten(event.value, 40)}` is not a number")
        return value

    def _fail(self, event: Any, what: str) -> NoReturn:
        raise UsageError(f"`{self.name}`, line {event.start_mark.line + 1}: {what}")


def yaml_line(text: str, path: tuple[Step, ...], key: bool) -> int | None:
    """Line of a path in a YAML text that is known to be well formed."""
    line_of = None
    for here, key_line, line in _places(text, path):
        if here == 0 and line_of is not None:
            break
        line_of = key_line if key else line
        if here == len(path):
            break
    return line_of


def _places(text: str, path: tuple[Step, ...]) -> Iterator[tuple[int, int, int]]:
    """How many steps of the path lead to each value on it, the line of its key, and its line."""
    steps: list[list[Any]] = []  # of each open value: on the path, is a mapping, key or index, line
    event: Any
    for event in yaml.parse(text, Loader=_LOADER):
        kind = type(event)
        if kind in _ENDS:
            steps.pop()
            continue
        begins = kind in _STARTS
        if not begins and kind not in (yaml.ScalarEvent, yaml.AliasEvent):
            continue
        line = event.start_mark.line + 1
        parent = steps[-1] if steps else None
        if parent is not None and parent[1] and parent[2] is None:
            parent[2:] = [event.value, line]
            continue
        on_path, key_line = True, line
        if parent is not None:
            depth = len(steps)
            on_path = parent[0] and depth <= len(path) and parent[2] == path[depth - 1]
            key_line = parent[3] or line
            parent[2:] = [None if parent[1] else parent[2] + 1, 0]
        if on_path:
            yield len(steps), key_line, line
        if begins:
            is_mapping = kind is yaml.MappingStartEvent
            steps.append([on_path, is_mapping, None if is_mapping else 0, 0])


def count_values(value: object) -> int:
    """How many values the reader would count in a document: lists, mappings and what is in them."""
    if isinstance(value, dict):
        return 1 + sum(map(count_values, value.values()))
    if isinstance(value, list | tuple):
        return 1 + sum(map(count_values, value))
    return 1
