"""Signals at counted moments: Python imports this before the program, from PYTHONPATH.

Time says little of how far a program is on a busy machine, so a moment is a number: of modules that
were looked for, or of functions that were called in the main thread, since the program has taken
the signals into its own hands. `SIGNAL_AT=SIGINT:import:37` sends it there,
`SIGINT:asyncio.runners.run:3` at the third call of a function of that name in that module;
`SIGNAL_COUNT=FILE` writes to FILE how many moments there were.
"""

import atexit
import os
import signal
import sys
from importlib.machinery import ModuleSpec
from types import FrameType
from typing import Any

NUMBERS = {"import": 0, "call": 0}


class Moments:
    """Counts what happens, and sends the signal when its moment has come."""

    def __init__(self, wanted: str) -> None:
        name, self.what, at = (wanted or "SIGINT:none:0").split(":")
        self.number = signal.Signals[name]
        self.at = int(at)
        self.is_begun = False

    def find_spec(self, *_: Any) -> ModuleSpec | None:
        """As a finder: it sees every module that is looked for, and finds none."""
        if not self.is_begun:
            if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
                return None
            self.is_begun = True
            if self.what != "import" or "SIGNAL_COUNT" in os.environ:
                sys.setprofile(self.called)
        self.pass_by("import")
        return None

    def called(self, frame: FrameType, event: str, _argument: object) -> None:
        """As a profiler: it sees every call."""
        if event == "call":
            self.pass_by("call")
            self.pass_by(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")

    def pass_by(self, what: str) -> None:
        """Count one more of these."""
        NUMBERS[what] = NUMBERS.get(what, 0) + 1
        if what == self.what and NUMBERS[what] == self.at:
            sys.setprofile(None)
            os.kill(os.getpid(), self.number)


def write(file: str) -> None:
    """Leave the numbers in a file."""
    sys.setprofile(None)
    text = " ".join(f"{what}={number}" for what, number in NUMBERS.items())
    with open(file, "w", encoding="utf-8") as out:  # noqa: PTH123 (imports nothing more)
        out.write(text)


if "SIGNAL_AT" in os.environ or "SIGNAL_COUNT" in os.environ:
    sys.meta_path.insert(0, Moments(os.environ.get("SIGNAL_AT", "")))
    if "SIGNAL_COUNT" in os.environ:
        atexit.register(write, os.environ["SIGNAL_COUNT"])
