"""A command with streams that are closed, full, or read by nobody: its work and code stay."""

import json
import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Final

from tests.support.endings.held import check_words, check_writes, errors_in
from tests.support.endings.lines import LINES
from tests.support.endings.program import Program, Sink, is_over, run_program
from tests.support.endings.world import Place, World
from tests.support.kafka.waiting import wait_until

STREAMS: Final[Mapping[str, dict[str, Sink]]] = {
    "stdout closed": {"stdout": "closed"},
    "stdout full": {"stdout": "full"},
    "stdout without a reader": {"stdout": "gone"},
    "stdout read for a line": {"stdout": "one line"},
    "stderr closed": {"stderr": "closed"},
    "stderr full": {"stderr": "full"},
    "stderr without a reader": {"stderr": "gone"},
    "stderr read for a line": {"stderr": "one line"},
    "both full": {"stdout": "full", "stderr": "stdout"},
    "both without a reader": {"stdout": "gone", "stderr": "stdout"},
    "both read for a line": {"stdout": "one line", "stderr": "stdout"},
    "stdin closed": {"stdin": "closed"},
    "nothing open": {"stdin": "closed", "stdout": "closed", "stderr": "closed"},
}
UNPRINTED: Final = "error: the result could not be printed: "


def hold_streams(world: World, name: str, condition: str) -> None:
    """The work is done as ever; 74 (1 in the official grammar) where its result is nowhere."""
    line, sinks = LINES[name], STREAMS[condition]
    place = world.place(line)
    ending = run_program(
        world.words(line, place, 60_000),
        place.folder,
        env=world.environment(place),
        meanwhile=stopping(place) if line.kind == "server" else None,
        **sinks,
    )
    check_words(ending, place)
    check_writes(world, line, place, ending)
    lost = sinks.get("stdout", "kept") in ("closed", "full") and not line.silent
    if line.at_best and ending.code == 0:
        lost = False
    assert ending.code == (0 if not lost else 74 if line.grammar == "own" else 1), ending
    if sinks.get("stderr", "kept") == "kept":
        assert errors_in(ending) == [text for text in errors_in(ending) if UNPRINTED in text]
        assert len(errors_in(ending)) == lost, ending
    if "stdout" not in sinks and "-o json" in line.words:
        assert json.loads(ending.stdout)["errors"] == []
    if line.writes == "offsets" and sinks.get("stdout") in ("closed", "full", "gone"):
        (undo,) = place.undo_files or (None,)
        if undo is not None:
            outcome = json.loads(undo.read_text(encoding="utf-8"))["outcome"]
            changes = sum(place.old[at] != place.new[at] for at in place.old)
            assert outcome["done"] == changes, outcome


def stopping(place: Place) -> Callable[[Program], None]:
    """Ends the server as soon as it listens."""

    def stop(process: Program) -> None:
        address = ("127.0.0.1", int(place.values["port"]))

        def listens() -> bool:
            assert not is_over(process)
            try:
                socket.create_connection(address, timeout=60).close()
            except ConnectionRefusedError:
                return False
            return True

        wait_until(listens, "the sandbox listens", timeout_s=240)
        os.kill(process.pid, signal.SIGTERM)

    return stop
