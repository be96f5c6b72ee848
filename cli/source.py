"""Where a command's facts come from: the cluster that the options name, or a snapshot file."""

import fnmatch
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from kgroups.cli.audit_log import audited
from kgroups.cli.contexts.guards import guard_of
from kgroups.cli.exits import Note, note_once, warn_once
from kgroups.cli.output.escapes import printable
from kgroups.cli.params import GlobalOptions
from kgroups.core.errors import ItemError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import (
    ClientSettings,
    RequestTrace,
    exposed_secret,
    read_settings,
    settings_of,
)
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.lag.group_lag import check_isolation
from kgroups.core.lag.rules import Isolation
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot, Group

GLOB_SIGNS = frozenset("*?[")
NO_GROUP: Final = "GROUP_ID_NOT_FOUND"
MOST_GUESSED_FROM: Final = 10_000
"""Among more names it would take seconds to find the one that is alike."""


@contextmanager
def cluster(
    options: GlobalOptions,
    deadline: Deadline | None = None,
    *,
    silent: bool = False,
    to_change: bool = False,
    settles: bool = False,
) -> Iterator[ClusterAdmin]:
    """The cluster that the options name, for as long as the block lasts.

    Args:
        options: its address, and the time for each question.
        deadline: of all questions together, instead.
        silent: do not warn of anything.
        to_change: see at once that it may be written to.
        settles: ask coordinators only once they know all of their log.
    Raises:
        UsageError: no address is given, or the settings file cannot be understood.
        RefusedError: it is to be written to, and a guard forbids that.
        ClusterError: the cluster does not answer in time or refuses access.
    """
    guard = guard_of(options.context, options.expect_cluster_id, options.unprotected)
    if to_change:
        guard.check_refusal()
    settings = settings_for(options, silent=silent)
    if options.debug:
        settings = replace(settings, trace=tell_request)
    with ClusterAdmin(
        settings,
        timeout_ms=options.timeout_ms,
        deadline=deadline,
        guard=guard,
        settles=settles,
    ) as admin:
        if admin.notice is not None and not silent:
            note_once(Note("CLIENT_CHOSEN", admin.notice), quiet=options.quiet)
        if not to_change:
            yield admin
            return
        admin.check_writable()
        name = None if options.context is None else options.context.name
        with audited(admin, name, options.reason):
            yield admin


@contextmanager
def cluster_to_change(
    options: GlobalOptions, deadline: Deadline | None = None, *, dry_run: bool = False
) -> Iterator[ClusterAdmin]:
    """The same for a command that writes: looking, writing and reading back share one time.

    Args:
        options: its address, its guards, and the time.
        deadline: of all questions together; None for one that begins now.
        dry_run: nothing will be written, so that no guard forbids it.
    Raises:
        RefusedError: a guard forbids writes; nothing has been planned.
    """
    deadline = deadline or Deadline.after(options.timeout_ms)
    with cluster(options, deadline, to_change=not dry_run, settles=True) as admin:
        yield admin


def settings_for(options: GlobalOptions, *, silent: bool = False) -> ClientSettings:
    """How to reach the cluster that the options name, directly or by their context.

    Args:
        silent: warn of nothing, and run no command that would give a secret.
    Raises:
        UsageError: no address is given, or what is given cannot be understood.
    """
    file, context = options.command_config, options.context
    if file is None and context is not None and context.properties:
        from kgroups.cli.contexts.secrets import properties_of  # YAML

        given = properties_of(context, options.timeout_ms, silent=silent)
        settings = settings_of(given, options.bootstrap_server)
    else:
        settings = read_settings(options.bootstrap_server, file)
        if file is not None and not silent:
            warn_of_exposure(file, settings)
    if silent and settings.oauth is not None and settings.oauth.source == "command":
        raise UsageError("a command is not run here")
    return replace(settings, through_librdkafka=options.client == "librdkafka")


def warn_of_exposure(file: Path, settings: ClientSettings) -> None:
    """Say on stderr, once for each file, that others can read the password in it."""
    warn_once(file, exposed_secret(file, settings))


@contextmanager
def asked(options: GlobalOptions, file: Path | None) -> Iterator[ClusterAdmin | None]:
    """The cluster that the options name; None where a file takes its place."""
    if file is not None:
        yield None
        return
    with cluster(options) as admin:
        yield admin


def take_snapshot(
    options: GlobalOptions, groups: Sequence[str] | None = None, *, file: Path | None = None
) -> ClusterSnapshot:
    """The named groups of a file, or of the cluster; all of them if none is named.

    A named group that does not exist is an entry of `errors`.
    """
    with asked(options, file) as admin:
        return snapshot_of(admin, groups, file=file)


def snapshot_of(
    admin: ClusterAdmin | None,
    groups: Sequence[str] | None = None,
    *,
    file: Path | None = None,
    offsets: bool = True,
    log_offsets: bool = True,
    isolation: Isolation = "read_uncommitted",
    progress: Callable[[str], None] | None = None,
) -> ClusterSnapshot:
    """The named groups of a file, or else of a cluster; all of them if none is named.

    A named group that does not exist is an entry of `errors`.

    Raises:
        UsageError: last stable offsets are asked for, and the file does not hold them.
    """
    if file is not None:
        snapshot = snapshot_of_file(file, groups)
        if log_offsets:
            check_isolation(snapshot, isolation, f"`{file}`")
        return snapshot
    assert admin is not None, "either a file or a cluster is asked"
    snapshot = admin.snapshot(
        groups,
        offsets=offsets,
        log_offsets=log_offsets,
        isolation=isolation,
        progress=progress,
    )
    if not any(error.code == NO_GROUP for error in snapshot.errors):
        return snapshot
    listed = [group.group for group in admin.list_groups().groups]
    return replace(snapshot, errors=tuple(with_guess(error, listed) for error in snapshot.errors))


def with_guess(error: ItemError, names: Sequence[str]) -> ItemError:
    """The failure of a group that is not there, with the name that may have been meant."""
    is_guessed = error.code == NO_GROUP and len(names) <= MOST_GUESSED_FROM
    close = get_close_matches(error.target, names, 1) if is_guessed else ()
    return replace(error, hint=f"did you mean `{close[0]}`?") if close else error


def snapshot_of_file(file: Path, groups: Sequence[str] | None = None) -> ClusterSnapshot:
    """A snapshot file, cut down to the named groups.

    Raises:
        UsageError: the file is not a snapshot; names file, line and what was expected.
    """
    from kgroups.core.snapshot_file import read_snapshot  # YAML: only when a file is read

    return cut_to_groups(read_snapshot(file), groups, file)


def cut_to_groups(
    snapshot: ClusterSnapshot, groups: Sequence[str] | None, file: Path
) -> ClusterSnapshot:
    """A snapshot with the named groups only; one that is not there is an error of it."""
    if groups is None:
        return snapshot
    wanted = set(groups)
    kept = tuple(group for group in snapshot.groups if group.group in wanted)
    names = [group.group for group in snapshot.groups]
    missing = sorted(wanted - {*names})
    return replace(
        snapshot,
        groups=kept,
        errors=(
            *(error for error in snapshot.errors if error.target in wanted),
            *(with_guess(unknown_group(name, f"`{file}`"), names) for name in missing),
        ),
    )


def unknown_group(name: str, where: str) -> ItemError:
    """The failure of a group that was named and is not there."""
    return broker_error(name, NO_GROUP, f"no such group in {where}")


def match_names(groups: Iterable[Group], pattern: str | None) -> Iterator[Group]:
    """Groups whose name fits a glob; a pattern without `*`, `?` or `[` fits anywhere in a name."""
    if pattern is None:
        yield from groups
        return
    glob = pattern if GLOB_SIGNS & set(pattern) else f"*{pattern}*"
    for group in groups:
        if fnmatch.fnmatchcase(group.group, glob):
            yield group


def topics_of(group: Group) -> set[str]:
    """Topics that a group reads: subscribed, assigned or committed."""
    topics = set(group.offsets or ())
    for member in group.members or ():
        topics.update(member.subscription or (), member.assignment or ())
    return topics


def tell_request(request: RequestTrace) -> None:
    """Write `--debug`'s line on a request: broker, API, version, time, bytes; no content."""
    if request.failure is None:
        ending = f"{_bytes(request.received_bytes)} received"
    else:
        ending = f"no answer: {request.failure}"
    line = (
        f"debug: {request.broker} {request.api} v{request.version}"
        f" {request.duration_ms:.1f} ms, {_bytes(request.sent_bytes)} sent, {ending}"
    )
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()


def _bytes(count: int | None) -> str:
    return "? bytes" if count is None else f"{count} bytes"
