"""Resets to offsets that are given: by a file, by another group, by what was committed once."""

from collections.abc import Iterable, Sequence
from typing import Any

from kgroups.cli.commands.writes.lookups import committed_by
from kgroups.cli.commands.writes.reset_request import Moments, Request
from kgroups.cli.commands.writes.writing import Run
from kgroups.cli.moments import Standings, read_moment, standing_fields, tell_moment
from kgroups.core.errors import ItemError, NotFoundError, RefusedError, counted
from kgroups.core.history.moment import Standing
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.plan_file import Offsets
from kgroups.core.offsets.reset import committed_partitions
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition
from kgroups.core.times import timestamp


def moments_of(
    run: Run, names: Sequence[str], request: Request
) -> tuple[dict[str, Standings], list[ItemError]]:
    """Commits of groups at the moment of the target; partitions without are left out.

    Raises:
        KgroupsError: as of `read_moment`.
    """
    at_ms = request.target.number
    tell_moment(run.printer, at_ms)
    found, errors = read_moment(run.printer, run.admin, names, at_ms, request.captures)
    left: dict[str, Standings] = {}
    for name, rows in found.items():
        left[name] = {
            at: one
            for at, one in rows.items()
            if one.exactness != "exact" or one.offset is not None
        }
        without = len(rows) - len(left[name])
        if without:
            text = (
                f"{counted(without, 'partition')} of `{name}` had no commit at "
                f"{timestamp(at_ms)} and stay as they are"
            )
            run.printer.note("NO_COMMIT_THEN", text, name)
    return left, errors


def given_offsets(looked: ClusterSnapshot, name: str, request: Request) -> Offsets:
    """Offsets that the target gives for a group; empty for targets that give none.

    Raises:
        NotFoundError: the file has no line for the group; there is no such other group.
    """
    if request.target.kind == "file":
        found = request.given.get(name) or request.given.get(None)
        if not found:
            raise NotFoundError(f"`{request.target.name}` has no line for group `{name}`")
        return found
    if request.target.kind == "group":
        return committed_by(looked, request.target.name)
    rows = request.moments.get(name, {})
    return {at: one.offset for at, one in rows.items() if one.offset is not None}


def asked_partitions(group: Group, given: Offsets, request: Request) -> list[TopicPartition]:
    """The partitions that the target is about, in order; of most targets all that are committed."""
    if not (given or request.moments):
        return committed_partitions(group)
    asked = request.moments.get(group.group, given)
    scope = request.scope
    return [at for at in sorted(asked) if not scope.names or scope.holds(at)]


def with_moments(changes: Iterable[Change], moments: Moments) -> list[Change]:
    """Changes that say how exact they are, and are refused where nothing is known."""
    if not moments:
        return list(changes)
    return [_with_moment(change, _standing(change, moments)) for change in changes]


def _with_moment(change: Change, standing: Standing | None) -> Change:
    if standing is None or standing.known_ms is None or standing.offset is None:
        text = "it is not known what was committed then"
        hint = "--captures may tell it; --keep-going resets the others"
        error = ItemError(change.target, "COMMIT_UNKNOWN", text, hint, RefusedError.exit_code)
        return change.failed(error)
    if standing.exactness == "exact":
        return change
    note = f"as of {timestamp(standing.known_ms)} ({standing.source}), later commits may be missing"
    return change._replace(note="; ".join(filter(None, (change.note, note))))


def moment_item(change: Change, moments: Moments) -> dict[str, Any]:
    """How the item of a change says where its offset is from."""
    standing = _standing(change, moments)
    return {} if standing is None else standing_fields(standing)


def _standing(change: Change, moments: Moments) -> Standing | None:
    if change.topic is None or change.partition is None:
        return None
    return moments.get(change.group, {}).get((change.topic, change.partition))
