"""Before and after a write of offsets: members that have to leave, others that commit since."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kgroups.cli.commands.gates.polling import Polls
from kgroups.cli.commands.writes.writing import Run
from kgroups.cli.output.printer import Printer
from kgroups.core.errors import ClusterError, ItemError, KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.writes.commit_reads import read_until
from kgroups.core.offsets.change import IDLE_STATES, Change, members_text
from kgroups.core.offsets.read_back import Held, settle
from kgroups.core.protocol.errors import LASTING

_SLICE_S: Final = 0.2


def wait_until_empty(
    printer: Printer, admin: ClusterAdmin, groups: Sequence[str] | None, for_ms: int
) -> None:
    """Wait until no group has members, or the time is over; who is in the way is told.

    What is then refused, and why, is told by the write itself.

    Args:
        groups: their names; None for all.
    Raises:
        ClusterError: the cluster cannot be asked for good.
    """
    reported: dict[str, str] = {}
    for _ in Polls(for_ms, time.sleep):
        try:
            looked = admin.snapshot(groups, offsets=False, log_offsets=False)
        except ClusterError as error:
            if error.code in LASTING:
                raise
            printer.note("RETRYING", f"{error.message}; retrying")
            continue
        busy = {
            group.group: members_text(group.members or ())
            for group in looked.groups
            if group.members or group.state not in IDLE_STATES
        }
        for name, text in busy.items():
            if reported.get(name) != text:
                text = f"`{name}`: waiting for {text}"
                printer.note("WAITING_FOR_MEMBERS", text, name, of_a_write=True)
        for name in reported.keys() - busy.keys():
            text = f"`{name}`: no longer has members"
            printer.note("MEMBERS_LEFT", text, name, of_a_write=True)
        reported = busy
        if not busy:
            return


def watched(run: Run, changes: Sequence[Change], for_ms: int) -> list[Change]:
    """The changes after so long: what reads back otherwise by then has failed.

    Ctrl-C ends it; what was found until then counts.
    """

    printer, interruption = run.printer, run.interruption
    settled = list(changes)

    def take(held: Mapping[str, Held | None]) -> Sequence[str]:
        commits_now = {group: commits for group, commits in held.items() if commits is not None}
        for place, change in enumerate(settled):
            if change.result == "done" and change.group in commits_now:
                (settled[place],) = settle([change], commits_now)
                error = settled[place].error
                if error is not None:
                    printer.note("CHANGED_AGAIN", error.text, error.target, of_a_write=True)
        return ()

    def rest(seconds: float) -> None:
        ends = time.monotonic() + seconds
        while not interruption.asked and (left := ends - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_S))

    polls = Polls(for_ms, rest)
    for _ in polls:
        names = list(dict.fromkeys(c.group for c in settled if c.result == "done" and c.topic))
        if interruption.asked or not names:
            break
        printer.progress(f"watching for other commits, {polls.left} to go")
        try:
            read_until(run.admin, names, take, Deadline.after(printer.options.timeout_ms))
        except KgroupsError as error:
            printer.note("RETRYING", f"{error.message}; retrying")
    return settled


def verified(
    run: Run, verify: Callable[[Sequence[Change]], list[Change]], changes: Sequence[Change]
) -> list[Change]:
    """The changes after another look, unless that fails or Ctrl-C ends it."""
    run.printer.progress("verifying")
    try:
        return run.interruption.look(lambda: verify(changes), list(changes))
    except KgroupsError as error:
        run.failures.append(ItemError.of("--verify", error))
        return list(changes)
