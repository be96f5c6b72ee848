"""YAML as PyYAML writes it, byte for byte, without asking it for every value."""

import random
from collections.abc import Callable
from typing import Any, Final

import pytest
import yaml

from kgroups.core.input_files.yaml_blocks import YamlWriter

DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
PLAIN: Final = ["a", "orders-app", "topic.v2", "a'b", "é", "-", "x" * 90]
ODD: Final = [
    *(
        "",
        " a",
        "a ",
        "a b",
        "word " * 30,
        "x" * 130,
        "two\nlines",
        "\t",
        "\u202e",
        "\x85",
        "\u2028",
    ),
    *("no", "y", "null", "~", "1", "1_0", "0x1", "1.5", "2001-01-01", "=", "<<", "-1e5", ".inf"),
    *(
        "a: b",
        "a:",
        "a #b",
        "#",
        "- a",
        "?",
        "? a",
        "'q'",
        '"',
        "*x",
        "&x",
        "!x",
        "{",
        "[",
        "}",
        ",",
    ),
    *("|", ">", "%a", "@a", "`", "...", "---", "\ud7ff", "\U0001f600", "\ufeff", "tail\\"),
]
SCALARS: Final = [None, True, False, 0, -5, 10**20, 1.5, 1e300, float("inf"), float("nan")]


def by_library(value: object, width: int) -> str:
    """The same document as PyYAML writes it."""
    return str(yaml.dump(value, Dumper=DUMPER, sort_keys=False, allow_unicode=True, width=width))


def document(rng: random.Random, texts: list[str], depth: int = 0) -> Any:
    """A random one of these texts, with every other kind of scalar."""
    kind = rng.random()
    if depth > 4 or (depth and kind < 0.5):
        return rng.choice([*SCALARS, *texts])
    if kind < 0.75:
        return {rng.choice(texts): document(rng, texts, depth + 1) for _ in range(rng.randrange(4))}
    items = [document(rng, texts, depth + 1) for _ in range(rng.randrange(4))]
    return items if kind < 0.9 else tuple(items)


@pytest.mark.parametrize("width", [80, 1_000_000])
@pytest.mark.parametrize("texts", [PLAIN, [*PLAIN, *ODD]], ids=["plain", "odd"])
def test_equal_to_the_library(texts: list[str], width: int) -> None:
    """Of random documents; one writer for all, which keeps the texts that it has seen."""
    rng = random.Random(7)
    writer = YamlWriter(DUMPER, width)
    for _ in range(1_500):
        value = document(rng, texts)
        assert writer.text(value) == by_library(value, width)


def _twice() -> object:
    value = {"a": 1}
    return [value, value]


OTHERWISE: Final[dict[str, Callable[[], object]]] = {
    "an object twice": _twice,
    "an empty list twice": lambda: [[]] * 2,
    "keys that are numbers": lambda: {1: "a"},
    "bytes": lambda: {"a": b"a"},
    "a long key": lambda: {"x" * 200: 1},
    "several lines": lambda: {"a": "b\nc"},
    "a scalar": lambda: "a",
    "nothing": lambda: {},
    "a broken line": lambda: {"a": "word " * 30},
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_what_the_library_does(what: str) -> None:
    """Anchors, several lines and other types are written as before."""
    value = OTHERWISE[what]()
    assert YamlWriter(DUMPER, 80).text(value) == by_library(value, 80)


def test_a_document_as_ours_are_is_not_given_to_the_library() -> None:
    """It is asked once for a text, not for every value."""
    asked: list[str] = []

    class Counting(DUMPER):  # type: ignore[misc]
        """Notes what it represents."""

        def represent(self, data: Any) -> None:
            asked.append(str(data))
            super().represent(data)

    row: dict[str, object] = {
        "group": "orders-app",
        "offsets": [],
        "lag": None,
        "partition": 7,
        "stale": False,
    }
    items = [{**row, "offsets": [{"topic": "a b", "offset": n}]} for n in range(1_000)]
    YamlWriter(Counting, 80).text({"schema": "kgroups.x/1", "items": items})
    assert len(asked) < 20


def test_more_texts_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are forgotten, not mixed up."""
    monkeypatch.setattr("kgroups.core.input_files.yaml_blocks._MOST_TEXTS", 2)
    value = {f"k{number}": f"v{number}" for number in range(9)}
    assert YamlWriter(DUMPER, 80).text(value) == by_library(value, 80)
