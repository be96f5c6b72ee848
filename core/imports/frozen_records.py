"""Values with named fields, as `dataclass(frozen=True, slots=True)` makes them, but sooner.

`dataclasses` imports `inspect` and compiles six functions a class: a third of what `list` takes
until it asks anything. Here one function a class is compiled, and nothing is imported. To a type
checker these are dataclasses, and so they are to whoever asks for their fields
(`dataclasses.replace`, `fields`, a dataclass that inherits): the tables that tell so are made then.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

_ABSENT: Final = object()

Body = dict[str, Any]


class _Field(NamedTuple):
    """A field, by the words of `dataclasses.field`."""

    default: Any = _ABSENT
    default_factory: Any = _ABSENT
    repr: bool = True
    compare: bool = True


def _replace(value: Any, /, **changes: Any) -> Any:
    """The value with other contents of some fields; of a dataclass, too."""
    return type(value)(**{name: getattr(value, name) for name in value.__match_args__} | changes)


def _record(*, frozen: bool, slots: bool) -> Callable[[type], type]:
    """Make a class of such values out of one with annotations."""
    assert frozen, "there are no others"
    assert slots, "there are no others"
    return _made


def _made(cls: type) -> type:
    fields = {name: _field_of(cls.__dict__.get(name, _ABSENT)) for name in cls.__annotations__}
    names = tuple(fields)
    left_out = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    body |= {
        "__slots__": names,
        "__match_args__": names,
        "__dataclass_fields__": _Told(fields),
        "__dataclass_params__": _Told(fields),
        "__init__": _init(fields, has_check="__post_init__" in body),
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__getstate__": _get_state,
        "__setstate__": _set_state,
        **_comparison([name for name in names if fields[name].compare]),
    }
    body.setdefault("__repr__", _repr([name for name in names if fields[name].repr]))
    return type(cls)(cls.__name__, cls.__bases__, body)


def _field_of(default: Any) -> _Field:
    return default if isinstance(default, _Field) else _Field(default)


def _init(fields: Mapping[str, _Field], *, has_check: bool) -> Callable[..., None]:
    """`__init__`, compiled: it is called for every group and member of a cluster."""
    known: Body = {"_set": object.__setattr__, "_absent": _ABSENT}
    words, lines = ["self"], []
    for name, field in fields.items():
        word, value = name, name
        if field.default is not _ABSENT:
            known[f"_{name}"] = field.default
            word = f"{name}=_{name}"
        elif field.default_factory is not _ABSENT:
            known[f"_{name}"] = field.default_factory
            word, value = f"{name}=_absent", f"_{name}() if {name} is _absent else {name}"
        words.append(word)
        lines.append(f" _set(self, {name!r}, {value})\n")
    if has_check:
        lines.append(" self.__post_init__()\n")
    exec(f"def __init__({', '.join(words)}):\n{''.join(lines)}", known)
    made: Callable[..., None] = known["__init__"]
    return made


def _comparison(names: list[str]) -> Body:
    values = attrgetter(*names)

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if type(self) is type(other) else NotImplemented

    def number(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": number}


def _repr(names: list[str]) -> Callable[[Any], str]:
    def text(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({told})"

    return text


def _refuse(_: Any, name: str, *_value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__match_args__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)


class _Told:
    """What `dataclasses` wants to know of a record, told by the dataclass that it is like."""

    def __init__(self, fields: Mapping[str, _Field]) -> None:
        self._fields = fields

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, _: object, _type: type) -> Any:
        import dataclasses

        found = []
        for name, field in self._fields.items():
            given = {key: value for key, value in field._asdict().items() if value is not _ABSENT}
            found.append((name, self._owner.__annotations__[name], dataclasses.field(**given)))
        like = dataclasses.make_dataclass(self._owner.__name__, found, frozen=True, slots=True)
        told = getattr(like, self._name)
        setattr(self._owner, self._name, told)
        return told


if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import field, replace
else:
    record, field, replace = _record, _Field, _replace

__all__ = ["field", "record", "replace"]
