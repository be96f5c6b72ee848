"""Suites of the real broker, taken over for the embedded cluster."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from kgroups.core.sandbox.options import SANDBOX_LACKS


def take_over(suite: ModuleType, space: dict[str, Any], needs: Mapping[str, str]) -> None:
    """Put a suite's tests and fixtures into a module, less those that need what is lacking.

    Args:
        suite: whose fixtures start from `cluster_address`.
        space: the module's globals.
        needs: test and the row of `SANDBOX_LACKS` that leaves it out.
    """
    assert set(needs.values()) <= set(SANDBOX_LACKS)
    assert all(hasattr(suite, name) for name in needs)
    taken = {
        name: thing
        for name, thing in vars(suite).items()
        if (name.startswith("test_") and name not in needs) or type(thing).__name__ in FIXTURES
    }
    assert len(taken) > 2, suite.__name__
    space.update(taken)
    space["pytestmark"] = []  # no real broker is needed


FIXTURES = frozenset({"FixtureFunctionDefinition"})
