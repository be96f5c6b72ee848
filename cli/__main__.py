"""Where the program begins: `python -m kgroups.cli`, and what the command `kgroups` calls.

Nothing but `signal` and `gc` is imported before Ctrl-C is handled: the imports that follow take
longer than many a command, and an interrupt meanwhile has nothing to clean up and nothing to say.
"""

import gc
import os
import signal
import sys
from types import FrameType

ON_WINDOWS = "error: kgroups runs on Linux and macOS; on Windows, install and run it in WSL\n"

ALLOCATIONS_A_COLLECTION = 100_000
"""The imports, and then a whole cluster, are some hundred thousand small objects that live to the
end: looking for cycles among them after every 700 new ones, as Python does, takes a tenth of the
time."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(ALLOCATIONS_A_COLLECTION, 20, 20)
    if os.name == "nt":
        sys.stderr.write(ON_WINDOWS)
        os._exit(2)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # `nohup`, or a job in the background
            signal.signal(number, _leave)
    from kgroups.cli.app import main as run

    run()


def _leave(number: int, _frame: FrameType | None) -> None:
    """End at once and silently, with the exit code of the signal."""
    os._exit(128 + number)


if __name__ == "__main__":
    main()
