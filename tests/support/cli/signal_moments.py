"""Signals at counted moments of the program, as `startup/sitecustomize.py` sends them."""

import os
from collections.abc import Sequence
from pathlib import Path

from tests.support.cli.process import TIMEOUT_S, environment
from tests.support.kafka.child import run_program

STARTUP = Path(__file__).parent / "startup"


def environment_with(signal_at: str | None = None, **more: str) -> dict[str, str]:
    """The program's environment, with a signal (`SIGINT:call:1200`) at a counted moment."""
    paths = [str(STARTUP), *filter(None, [os.environ.get("PYTHONPATH")])]
    sent = {} if signal_at is None else {"SIGNAL_AT": signal_at}
    return environment(PYTHONPATH=os.pathsep.join(paths), **sent, **more)


def moments_in(file: Path) -> dict[str, int]:
    """What a run has left that was told SIGNAL_COUNT=FILE: kind of moment -> how many."""
    pairs = (pair.split("=") for pair in file.read_text(encoding="utf-8").split())
    return {name: int(number) for name, number in pairs}


def counted(line: Sequence[str], folder: Path) -> dict[str, int]:
    """How many moments of each kind (`import`, `call`, a function) the line has."""
    file = folder / "moments"
    run_program(line, env=environment_with(SIGNAL_COUNT=str(file)), timeout_s=TIMEOUT_S)
    return moments_in(file)
