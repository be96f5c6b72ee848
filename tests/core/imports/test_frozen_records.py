"""Records are dataclasses in everything but the time that it takes to make the class."""

import copy
import dataclasses
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kgroups.cli.contexts.context import Context
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import View
from kgroups.cli.params import GlobalOptions
from kgroups.core.errors import ItemError
from kgroups.core.imports import frozen_records
from kgroups.core.imports.frozen_records import field, record, replace
from kgroups.core.kafka.config.settings import ClientSettings, TlsSettings
from kgroups.core.snapshot import Broker, ClusterSnapshot, Group, Member, Topic

ALL = (
    Broker,
    ClientSettings,
    ClusterSnapshot,
    Context,
    GlobalOptions,
    Group,
    ItemError,
    Member,
    Report,
    TlsSettings,
    Topic,
    View,
)


class Plain:
    """What both are made of."""

    at: int
    name: str = "x"
    many: Mapping[str, int] = field(default_factory=dict)
    secret: str | None = field(default=None, repr=False)
    seen: int = field(default=0, compare=False)

    def twice(self) -> int:
        """A method."""
        return 2 * self.at


@record(frozen=True, slots=True)
class Ours(Plain):
    """A record."""

    at: int
    name: str = "x"
    many: Mapping[str, int] = field(default_factory=dict)
    secret: str | None = field(default=None, repr=False)
    seen: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if self.at < 0:
            raise ValueError("below 0")


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs(Plain):
    """A dataclass."""

    at: int
    name: str = "x"
    many: Mapping[str, int] = dataclasses.field(default_factory=dict)
    secret: str | None = dataclasses.field(default=None, repr=False)
    seen: int = dataclasses.field(default=0, compare=False)

    def __post_init__(self) -> None:
        if self.at < 0:
            raise ValueError("below 0")


@dataclasses.dataclass(frozen=True, slots=True)
class Heir(Ours):
    """A dataclass that inherits from a record."""

    more: int = 5


def outcome(what: Callable[[], object]) -> object:
    """What it gives, in words; or the kind of its failure."""
    try:
        return repr(what()).replace("Theirs", "Ours")
    except Exception as error:
        return type(error)


CASES: dict[str, Callable[[Any], object]] = {
    "all": lambda kind: kind(1, "n", {"a": 1}, "s", 2),
    "by name": lambda kind: kind(at=1, secret="s"),
    "missing": lambda kind: kind(),
    "unknown": lambda kind: kind(1, other=1),
    "checked": lambda kind: kind(-1),
    "equal": lambda kind: (kind(1) == kind(1, seen=3), kind(1) == kind(2), kind(1) != kind(1)),
    "of another kind": lambda kind: kind(1) == (1, "x", {}, None, 0),
    "hash": lambda kind: hash(kind(1, many=())) == hash(kind(1, many=(), seen=3)),
    "no hash": lambda kind: hash(kind(1)),
    "its own": lambda kind: kind(1).many is kind(1).many,
    "set": lambda kind: setattr(kind(1), "at", 2),
    "delete": lambda kind: delattr(kind(1), "at"),
    "replace": lambda kind: dataclasses.replace(kind(1), name="z"),
    "replace here": lambda kind: replace(kind(1), name="z"),
    "replace what is unknown": lambda kind: dataclasses.replace(kind(1), other=2),
    "replace what is unknown here": lambda kind: replace(kind(1), other=2),
    "replace is checked": lambda kind: replace(kind(1), at=-1),
    "as a mapping": lambda kind: dataclasses.asdict(kind(1, many={"a": 1})),
    "fields": lambda kind: [(one.name, one.repr, one.type) for one in dataclasses.fields(kind)],
    "is one": lambda kind: dataclasses.is_dataclass(kind),
    "pickle": lambda kind: pickle.loads(pickle.dumps(kind(1, seen=3))).seen,
    "copy": lambda kind: (copy.copy(kind(1)), copy.deepcopy(kind(1, seen=4)).seen),
    "a method": lambda kind: kind(3).twice(),
    "slots": lambda kind: kind.__slots__,
    "match": lambda kind: kind.__match_args__,
}


@pytest.mark.parametrize("case", CASES)
def test_a_record_is_like_a_dataclass(case: str) -> None:
    """In what it gives, and in how it fails."""
    assert outcome(lambda: CASES[case](Ours)) == outcome(lambda: CASES[case](Theirs))


def test_a_dataclass_that_inherits() -> None:
    """It has the fields of both."""
    heir = Heir(1, more=6)
    assert repr(heir) == "Heir(at=1, name='x', many={}, seen=0, more=6)"
    assert replace(heir, at=2) == dataclasses.replace(heir, at=2) == Heir(2, more=6)
    assert heir != Ours(1)
    assert pickle.loads(pickle.dumps(heir)) == heir


def test_only_what_is_made_is_asked_for() -> None:
    """Records are frozen and have slots."""
    with pytest.raises(AssertionError):
        frozen_records._record(frozen=False, slots=True)
    with pytest.raises(AssertionError):
        frozen_records._record(frozen=True, slots=False)


@pytest.mark.parametrize("kind", ALL)
def test_no_secret_is_shown(kind: Any) -> None:
    """What is left out of a record's words is left out of the dataclass's that it is like."""
    hidden = {one.name for one in dataclasses.fields(kind) if not one.repr}
    secret = {"password", "ca_pem", "certificate_pem", "key_pem", "key_password", "trace"}
    shown = {one.name for one in dataclasses.fields(kind)} - hidden
    assert not shown & (secret | {"keystore_password"})
