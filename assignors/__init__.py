"""Partition assignors: Kafka's own, those of other client libraries, and yours.

    plan = assignor("sticky").assign(AssignmentRequest(members, topics))

`assignor(name, leader=...)` takes the rules of one client library; where that library leaves
something to chance, `assign` gives one answer of several and `possible_answers` all of them.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgroups.assignors.public import *  # noqa: F403 # mypy reads them there


def __getattr__(name: str) -> object:
    # Imported when it is asked for: who imports one module of this package pays for no other.
    if find_spec(f"{__name__}.{name}") is not None:  # a module that nobody has imported yet
        return import_module(f"{__name__}.{name}")
    public = import_module(f"{__name__}.public")
    if name not in ("__all__", *public.__all__):
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(public, name)
