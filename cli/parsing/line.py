"""A line that was read without Typer, as its command sees it."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Line(NamedTuple):
    """What stands in for Typer's context.

    Args:
        meta: the global options that are given.
    """

    meta: Mapping[str, Any]
