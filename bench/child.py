"""Runs one command and writes its figures as JSON; a program of its own, run by path.

A process counts its parent's memory as its own peak until it has executed its program, so the
parent that measures must be small: this one imports next to nothing.

Arguments: file for the figures, file for stdout, file for stderr, command and its arguments.
"""

import json
import os
import sys
import time


def main() -> None:
    """Spawn, wait, write {"wall_s", "cpu_s", "peak_bytes", "status"}."""
    figures, out, err, *command = sys.argv[1:]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, out, flags, 0o644),
        (os.POSIX_SPAWN_OPEN, 2, err, flags, 0o644),
    ]
    started = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    with open(figures, "w") as file:  # noqa: PTH123 - pathlib is more than half of the start-up here
        json.dump(
            {
                "wall_s": wall_s,
                "cpu_s": usage.ru_utime + usage.ru_stime,
                "peak_bytes": usage.ru_maxrss * unit,
                "status": os.waitstatus_to_exitcode(status),
            },
            file,
        )


if __name__ == "__main__":
    main()
