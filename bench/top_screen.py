"""What `kgroups top` takes of a processor while it shows 2,000 groups and looks each second.

    python -m bench.top_screen [--seconds 40]

It runs on a pseudo-terminal of 50 x 160 against an embedded cluster of its own; the first 15
seconds, in which it learns all groups, do not count. Drawing alone is timed in this process.
Prints the sentence that docs/benchmarks.md has. Exit 1 when drawing takes 10 % of a core or more.
"""

import argparse
import os
import pty
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path
from threading import Thread
from typing import Final

from bench.lag_measure import kgroups_command
from kgroups.cli.commands.top.board import GroupRow
from kgroups.cli.commands.top.screen import Screen
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.clusters import fleet
from tests.support.kafka.child import Child, read_until
from tests.support.sandbox.sandbox_process import SandboxProcess

GROUPS: Final = 2_000
COMMITS: Final = 6
HEIGHT, WIDTH = 50, 160
WARM_UP_S: Final = 15.0
FRAMES: Final = 100
MOST: Final = 0.1
"""Of a core, for drawing once a second."""


def drawing_s() -> float:
    """Processor seconds of a frame: the rows are filtered and sorted, and the screen is made."""
    rows = [
        GroupRow(f"group-{n:05}", "Stable", 3, n * 7919 % 10_007, 0, 1.5, 1.25, 10.0 * n, 0)
        for n in range(GROUPS)
    ]
    screen = Screen(rows=rows, height=HEIGHT, width=WIDTH, filter="group")
    begun = time.process_time()
    for _ in range(FRAMES):
        screen.arrange()
        "\n".join(screen.frame())
    return (time.process_time() - begun) / FRAMES


def processor_s(pid: int) -> float:
    """Seconds that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def running_share(address: str, seconds: float) -> float:
    """The share of a core of the whole command, looks at the cluster included."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    with Child(
        kgroups_command("-b", address, "top"), stdin=follower, stdout=follower, stderr=follower
    ) as child:
        os.close(follower)
        drain = Thread(target=read_until, args=(leader, None, "its end"), kwargs={"timeout_s": 600})
        drain.start()
        time.sleep(WARM_UP_S)
        before, began = processor_s(child.pid), time.monotonic()
        time.sleep(seconds)
        share = (processor_s(child.pid) - before) / (time.monotonic() - began)
        os.write(leader, b"q")
        child.wait(60)
        drain.join(60)
    os.close(leader)
    return share


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and say what was measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.top_screen", description=__doc__)
    parser.add_argument("--seconds", type=float, default=40.0, help="how long it is watched")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
        filled = Path(scratch) / "cluster.jsonl.zst"
        write_snapshot(fleet(GROUPS, COMMITS), filled)
        with SandboxProcess("--from", str(filled), "--quiet", start_timeout_s=600) as cluster:
            share = running_share(cluster.bootstrap_servers, given.seconds)
    drawing = drawing_s()
    sys.stdout.write(
        f"`top` of {GROUPS:,} groups x {COMMITS} commits, a look each second, {HEIGHT} x {WIDTH}: "
        f"drawing takes {1_000 * drawing:.1f} ms of processor time a frame ({drawing:.1%} of a "
        f"core), the whole command {share:.1%} of a core.\n"
    )
    return 0 if drawing < MOST else 1


if __name__ == "__main__":
    sys.exit(main())
