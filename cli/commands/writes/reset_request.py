"""The request of a reset: the target, the partitions, and what the target needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgroups.cli.commands.writes.record_skips import Search
from kgroups.cli.exits import now_ms
from kgroups.cli.moments import Standings
from kgroups.core.errors import UsageError
from kgroups.core.lag.stores.places import Place
from kgroups.core.offsets.plan_file import Offsets, parse_offsets, read_plan_text
from kgroups.core.offsets.scope import Scope, parse_scope
from kgroups.core.offsets.targets import Target, parse_target

Moments = Mapping[str, Standings]


@dataclass(frozen=True, slots=True)
class Request:
    """Request to reset offsets.

    Args:
        given: offsets of a file, by group; those under None are for every group.
        clamp: whether an offset outside the log is moved to its edge, or refused.
        search: for records, where the target is one of them.
        internal_topics: of streams groups, that are to be deleted: by name, and whether all.
        captures: where there are some, for what was committed at a moment.
        moments: what groups had committed at the moment of the target; they may be gone.
    """

    target: Target
    scope: Scope
    all_topics: bool
    only_lagging: bool
    given: Mapping[str | None, Offsets]
    clamp: bool = False
    search: Search | None = None
    internal_topics: tuple[Sequence[str] | None, bool] = (None, False)
    captures: Place | None = None
    moments: Moments = field(default_factory=dict)


def request_of(
    to: str | None,
    topics: Sequence[str],
    captures: Place | None,
    *,
    all_topics: bool,
    only_lagging: bool,
) -> Request:
    """The request that the options make; a file is read now.

    Raises:
        UsageError: there is no target, or not exactly one scope where one is needed; or captures
            that the target does not look at.
    """
    if to is None:
        raise UsageError("no target given", hint="use --to earliest, --to 2h, … or --undo FILE")
    target = parse_target(to, now_ms())
    if captures is not None and target.kind != "committed":
        raise UsageError("--captures requires --to committed@TIME")
    scope = parse_scope(topics)
    if all_topics and topics:
        raise UsageError("--all-topics and --topic cannot be used together")
    named = target.kind in ("file", "group", "committed")
    if not (all_topics or topics or named):
        raise UsageError(
            "no topic given", hint="use --topic orders, --topic orders:0,3-5 or --all-topics"
        )
    given: Mapping[str | None, Offsets] = {}
    if target.kind == "file":
        path = Path(target.name).expanduser()
        given = parse_offsets(read_plan_text(path), str(path))
    return Request(target, scope, all_topics, only_lagging, given, captures=captures)
