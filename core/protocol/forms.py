"""Classes that messages are read into: dataclasses and named tuples with Kafka's field names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints
from uuid import UUID

NO_ID = UUID(int=0)
Aliases = tuple[tuple[str, str], ...]
"""Kafka's names of fields to those of attributes, where they differ."""


@dataclass(frozen=True, slots=True)
class Form:
    """A class for a message; for its structs, the classes in the annotations of its fields.

    Fields that the class lacks are dropped. One that a version lacks has the class's default, or
    Kafka's if the class has none. A field annotated as `UUID` has the zero id where a nullable
    one has None.

    Args:
        aliases: of its fields and those of its structs.
        as_arguments: give the arguments of the class instead, for whoever has more of them.
    """

    kind: type
    aliases: Aliases = ()
    as_arguments: bool = False

    def inner(self, name: str) -> "Form | None":
        """The form of the struct in a field, if the class has it."""
        hint = _hints(self.kind).get(attribute(name, self.aliases))
        kind = _struct_in(hint)
        return None if kind is None else Form(kind, self.aliases)

    def maker(
        self, names: Sequence[str], absent: Mapping[str, Any]
    ) -> Callable[[Sequence[Any]], Any]:
        """The constructor of an object with these fields.

        Args:
            absent: default of each field that the version lacks.
        """
        hints, optional = _hints(self.kind), _optional(self.kind)
        given = [attribute(name, self.aliases) for name in names]
        wanted = [(at, name) for at, name in enumerate(given) if name in hints]
        rest = {
            own: default
            for name, default in absent.items()
            if (own := attribute(name, self.aliases)) in hints and own not in optional
        }
        ids = [name for _, name in wanted if hints[name] is UUID]
        kind = dict if self.as_arguments else self.kind
        if not rest and not ids and given == list(hints) and not self.as_arguments:
            return lambda values: kind(*values)

        def make(values: Sequence[Any]) -> Any:
            arguments = {name: values[at] for at, name in wanted}
            for name in ids:
                arguments[name] = arguments[name] or NO_ID
            return kind(**arguments, **rest)

        return make


def attribute(name: str, aliases: Aliases) -> str:
    """The name of the attribute that has Kafka's field."""
    return next((own for kafka, own in aliases if kafka == name), name)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


@cache
def _optional(kind: type) -> frozenset[str]:
    """The fields that have a default."""
    if is_dataclass(kind):
        return frozenset(field.name for field in fields(kind) if field.default is not MISSING)
    return frozenset(kind._field_defaults)  # type: ignore[attr-defined]


def _struct_in(hint: Any) -> type | None:
    if is_dataclass(hint) or hasattr(hint, "_field_defaults"):
        assert isinstance(hint, type)
        return hint
    return next((kind for argument in get_args(hint) if (kind := _struct_in(argument))), None)
