"""Figures of a report beside those that it must have, and where they differ."""

import math
from collections.abc import Sequence
from typing import Any

from tests.support.lag.plain_truth import Figures, Key


def is_same(found: Any, expected: Any) -> bool:
    """Equal up to rounding; a set is any of several that are equally right."""
    if isinstance(expected, set):
        return found in expected
    if isinstance(expected, float) and found is not None:
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-6)
    return bool(found == expected)


def differences(
    items: Sequence[Figures], expected: dict[Key, Figures], keys: Sequence[str]
) -> tuple[int, list[tuple[Any, ...]]]:
    """How many figures were compared; key, column, found and expected of those that differ."""
    found = {tuple(item[key] for key in keys): item for item in items}
    compared = 0
    wrong: list[tuple[Any, ...]] = []
    for key in sorted({*found, *expected}, key=str):
        if key not in found or key not in expected:
            compared += 1
            wrong.append((key, "row", key in found, key in expected))
            continue
        own = {name: value for name, value in found[key].items() if name not in keys}
        said = expected[key]
        for name in sorted({*own, *said}):
            compared += 1
            if not is_same(own.get(name), said.get(name)):
                wrong.append((key, name, own.get(name), said.get(name)))
    return compared, wrong
