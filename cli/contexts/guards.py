"""The guards that hold for writes: of flags, of the environment, of the context in force."""

import os
from typing import Final

from kgroups.cli.contexts.context import Context
from kgroups.cli.contexts.in_force import contexts_of
from kgroups.core.errors import RefusedError
from kgroups.core.kafka.write_guard import WriteGuard

READ_ONLY: Final = "KGROUPS_READ_ONLY"
EXPECT: Final = "KGROUPS_EXPECT_CLUSTER_ID"
UNPROTECTED: Final = "KGROUPS_UNPROTECTED"
REASON: Final = "KGROUPS_REASON"

_OFF: Final = ("", "0", "false", "no", "off")


def guard_of(
    context: Context | None, expect_cluster_id: str | None = None, unprotected: str | None = None
) -> WriteGuard:
    """Guard that is asked before anything is written.

    Args:
        context: in force; None without one.
        expect_cluster_id: of the only cluster that may be written to.
        unprotected: name of the protected context that may be written to.
    """
    expected = []
    if expect_cluster_id is not None:
        expected.append(("--expect-cluster-id", expect_cluster_id))
    if context is not None and context.cluster_id is not None:
        expected.append((f"context `{context.name}`", context.cluster_id))
    return WriteGuard(_refusal(context, unprotected), tuple(expected))


def guard_of_environment() -> WriteGuard:
    """The guards for the grammar of Kafka's tools, which has no options for them.

    Raises:
        UsageError: the context that the environment or the file says is not to be had.
    """
    contexts = contexts_of(tuple(os.environ.get("KGROUPS_CONTEXT", "").split()))
    expect, unprotected = os.environ.get(EXPECT), os.environ.get(UNPROTECTED)
    return guard_of(contexts[0] if contexts else None, expect or None, unprotected or None)


def _refusal(context: Context | None, unprotected: str | None) -> RefusedError | None:
    """Why nothing may be written anywhere."""
    if os.environ.get(READ_ONLY, "").lower() not in _OFF:
        return RefusedError(
            f"{READ_ONLY} is set, so nothing is written",
            hint="unset it to write, or use --dry-run to see the plan",
            code="READ_ONLY",
        )
    if context is not None and context.protected and unprotected != context.name:
        named = "" if unprotected is None else f", and --unprotected names `{unprotected}`"
        return RefusedError(
            f"context `{context.name}` is protected{named}; nothing was written",
            hint=f"use --unprotected {context.name} to write, or --dry-run to see the plan",
            code="PROTECTED_CONTEXT",
        )
    return None
