"""Captures of `lag collect` as a source of other commands."""

import os
from collections.abc import Collection, Sequence
from typing import Annotated, Any

from kgroups.cli.params import GlobalOptions
from kgroups.cli.usage import option
from kgroups.core.extras import require_extra
from kgroups.core.lag.stores.places import Place, parse_place, within
from kgroups.core.snapshot import ClusterSnapshot


def place_of(text: str) -> Place:
    """A local path, or a URI with the login that the environment has for its store.

    Raises:
        UsageError: no such kind of store.
    """
    return parse_place(text, os.environ)


# `Any` is a `Place`: typer takes no union of classes.
Captures = Annotated[
    Any,
    option(
        "--captures DIR", "Read captures of `lag collect` too: a folder or URI.", parser=place_of
    ),
]


def read_captures(
    options: GlobalOptions,
    folder: Place,
    groups: Collection[str] | None,
    cluster: str | None,
    window: tuple[int, int],
    most: int | None = None,
) -> Sequence[ClusterSnapshot]:
    """The captures of a window of time, as of `captured_snapshots`.

    Args:
        window: its first and last millisecond.
        most: only so many of them, the oldest.
    Raises:
        MissingExtraError: what reads them is not installed.
        NotFoundError: there are none.
        UsageError: they are of other clusters.
        KgroupsError: a table cannot be read.
    """
    require_extra("collect", "`--captures`")
    from kgroups.core.lag.captures.captured_snapshots import captured_snapshots  # Arrow

    since_ms, until_ms = window
    place = within(folder, options.timeout_ms)
    return captured_snapshots(
        place, groups, cluster, since_ms=since_ms, until_ms=until_ms, most=most
    )
