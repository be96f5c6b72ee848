"""Ctrl-C between the first write and its report: what was done is told, and what is not known."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_rules import Fault, LoseRequest, NameOf, groups_of
from kgroups.core.sandbox.wire.frame_codec import Request
from tests.support.endings.choice import cases, share
from tests.support.endings.held import check_words, check_writes, document_of
from tests.support.endings.lines import LINES, Line
from tests.support.endings.program import Ending, Program, is_over, run_program
from tests.support.endings.world import CLIENT, Place, World
from tests.support.kafka.waiting import wait_until

LONG_MS: Final = 300_000
AT_ONCE: Final = "Ctrl-C again stops at once"
WRITTEN: Final = re.compile(r"^interrupted: (\S+) of (\S+) commits are written", re.MULTILINE)
CODES: Final = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}

# The request that writes.
WRITES: Final = {
    "reset-offsets": Api.OFFSET_COMMIT,
    "reset-offsets --undo": Api.OFFSET_COMMIT,
    "copy-offsets": Api.OFFSET_COMMIT,
    "delete-offsets": Api.OFFSET_DELETE,
    "apply": Api.OFFSET_COMMIT,
    "delete": Api.DELETE_GROUPS,
    "delete-records": Api.DELETE_RECORDS,
    "remove-members": Api.LEAVE_GROUP,
    "--reset-offsets": Api.OFFSET_COMMIT,
    "--delete-offsets": Api.OFFSET_DELETE,
    "--delete": Api.DELETE_GROUPS,
    "official delete-records": Api.DELETE_RECORDS,
}

# What the official grammar says: after the answer, and without one.
TOLD: Final = {
    "--reset-offsets": (
        "interrupted: 6 of 6 commits are written; undo file: ",
        "It is not known whether the offsets of the following partitions were altered: [",
    ),
    "--delete-offsets": (
        "Request succeeded for deleting offsets from group ",
        "Error: outcome unknown: interrupted before the response arrived",
    ),
    "--delete": (
        "Deletion of requested consumer groups (",
        "may be deleted or not:\n* Group 'g-",
    ),
    "official delete-records": (
        "low_watermark: 5",
        "error: outcome unknown: interrupted before the response arrived",
    ),
}


class OnceWritten(Fault):
    """A fault of what is asked after the group's write was sent, however often before.

    Args:
        write: the request that writes.
    """

    def __init__(self, write: Api, api: Api, group: str) -> None:
        super().__init__(api, group, client=CLIENT, action=LoseRequest(), times=None)
        self._write, self._is_written = write, False

    def fits(self, broker: int, request: Request, name_of: NameOf) -> bool:
        """Whether the rule is for this request."""
        if request.api is self._write and self.group in groups_of(request.body):
            self._is_written = True
        return self._is_written and super().fits(broker, request, name_of)


@contextmanager
def fault(world: World, rule: Fault) -> Iterator[Fault]:
    """A fault of the cluster."""
    world.sandbox.add_fault(rule)
    try:
        yield rule
    finally:
        world.sandbox.clear_faults()


def end(world: World, line: Line, place: Place, meanwhile: Callable[[Program], None]) -> Ending:
    """The end of a line in a place."""
    ending = run_program(
        world.words(line, place, LONG_MS),
        place.folder,
        env=world.environment(place),
        meanwhile=meanwhile,
    )
    check_words(ending, place)
    check_writes(world, line, place, ending)
    return ending


def await_hit(rule: Fault, process: Program) -> None:
    """Wait until the fault was met."""
    wait_until(lambda: rule.hits or is_over(process), "the fault is met", timeout_s=240)
    assert not is_over(process)


def await_words(place: Place, words: str, process: Program) -> None:
    """Wait until the program has said something."""
    file = place.folder / "stderr"
    wait_until(
        lambda: words in file.read_text(encoding="utf-8") or is_over(process),
        f"it says {words!r}",
        timeout_s=240,
    )


READ_BACK = share(
    [
        (name, number)
        for name in ("reset-offsets", "reset-offsets --undo", "copy-offsets", "delete-offsets")
        for number in CODES
    ],
    each=1,
)
ONCE = share([(name, number) for name in WRITES for number in CODES], each=1)


@pytest.mark.share(6)
@pytest.mark.parametrize(("name", "number"), cases(READ_BACK))
def test_while_reading_back(world: World, name: str, number: str) -> None:
    """At once; one line says that everything is written, and names the undo file."""
    place = world.place(LINES[name])
    group = place.values["group"]
    rule = OnceWritten(WRITES[name], Api.OFFSET_FETCH, group)
    with fault(world, rule) as lost:

        def interrupt(process: Program) -> None:
            await_hit(lost, process)
            os.kill(process.pid, signal.Signals[number])

        ending = end(world, LINES[name], place, interrupt)
    assert ending.code == CODES[number], ending
    many = f"{len(place.old):,}"
    found = WRITTEN.findall(ending.said)
    assert found == [(many, many)], ending
    (undo,) = place.undo_files
    assert f"commits are written; undo file: {undo}\n" in ending.said
    document = document_of(ending)
    assert document is not None
    assert {item["result"] for item in document["items"]} == {"done"}
    assert world.state(place) == place.new


@pytest.mark.share(6)
@pytest.mark.parametrize(("name", "number"), cases(ONCE))
def test_once_while_writing(world: World, name: str, number: str) -> None:
    """The answer is waited for, and told."""
    place = world.place(LINES[name])
    with fault(world, Fault(WRITES[name], client=CLIENT, delay_ms=2_000, times=None)) as late:

        def interrupt(process: Program) -> None:
            await_hit(late, process)
            os.kill(process.pid, signal.Signals[number])

        ending = end(world, LINES[name], place, interrupt)
    assert ending.code == CODES[number], ending
    assert AT_ONCE in ending.said
    assert world.state(place) == place.new
    document = document_of(ending)
    if document is not None:
        assert {item["result"] for item in document["items"]} == {"done"}
    if name in TOLD:
        assert TOLD[name][0] in ending.all_said, ending
        assert "rror: " not in ending.all_said, ending


@pytest.mark.share(3)
@pytest.mark.parametrize("name", WRITES)
def test_twice_while_writing(world: World, name: str) -> None:
    """The answer is not waited for: it is not known what became of it."""
    place = world.place(LINES[name])
    rule = Fault(WRITES[name], client=CLIENT, action=LoseRequest(), times=None)
    with fault(world, rule) as lost:

        def interrupt(process: Program) -> None:
            await_hit(lost, process)
            os.kill(process.pid, signal.SIGINT)
            await_words(place, AT_ONCE, process)
            os.kill(process.pid, signal.SIGINT)

        ending = end(world, LINES[name], place, interrupt)
    assert ending.code == 130, ending
    document = document_of(ending)
    if document is not None:
        assert {item["result"] for item in document["items"]} == {"unknown"}
    elif name in TOLD:
        assert TOLD[name][1] in ending.all_said, ending
        assert TOLD[name][0] not in ending.all_said, ending
    else:
        assert b"unknown" in ending.stdout
    assert world.state(place) == place.old
    if LINES[name].writes == "offsets" and name not in TOLD:
        many = f"{len(place.old):,}"
        assert f"interrupted: 0 of {many} commits are written, {many} may be; undo" in ending.said
