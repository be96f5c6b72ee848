"""What happens while a command writes: brokers go, the command is killed, others interfere."""

import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Literal

from tests.support.chaos.trio import Trio, recreate
from tests.support.chaos.works import FIRST, PARTITIONS, SECOND, Work
from tests.support.cli.process import PROGRAM
from tests.support.endings.program import Program, goes_on_for, is_over
from tests.support.kafka.child import Child
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import wait_until

GUESTS: Final = 3
END_S: Final = 300.0
Sort = Literal["broker", "tool", "second", "members", "topic", "folder"]


@dataclass
class Scene:
    """One command that is disturbed.

    Args:
        trio: the brokers.
        random: of this case.
        words: of the command.
        folder: of the case; its `undo` is for undo files.
        groups: that the command writes to.
        told: what was done, for people.
        stack: ends what the disturbance has begun, after the command.
        others: what other commands ended with, by the end of the stack: exit code and stderr.
    """

    trio: Trio
    random: Random
    words: Sequence[str]
    env: dict[str, str]
    folder: Path
    groups: Sequence[str]
    told: list[str] = field(default_factory=list)
    stack: ExitStack = field(default_factory=ExitStack)
    others: list[tuple[int, str]] = field(default_factory=list)

    @property
    def undo_files(self) -> list[Path]:
        """What the commands have saved, oldest first."""
        return sorted((self.folder / "undo").glob("undo-*.json"))

    def log_uniform(self, least: float, most: float) -> float:
        """A random number, small ones as likely as large ones."""
        return float(least * (most / least) ** self.random.random())


@dataclass(frozen=True)
class Disturbance:
    """One sort of disturbance.

    Args:
        sort: decides which checks hold.
        during: done while the command runs.
        fits: whether it means anything for a kind of work.
        moments: seconds from the command's start, least and most; a brokers' may count from the
            moment that the undo file is there.
        before: what the shell does before it starts the command.
        undo_dir: instead of the usual folder.
    """

    sort: Sort
    during: Callable[[Scene, Program], None]
    fits: Callable[[Work], bool] = lambda _: True
    moments: tuple[float, float] = (0.001, 2.0)
    before: str = ""
    undo_dir: Callable[[Path], Path] | None = None


def wait_for_moment(scene: Scene, what: Disturbance, work: Work, process: Program) -> None:
    """Until a random moment of the command's life, or its end."""
    seconds = scene.log_uniform(*what.moments)
    by_file = what.sort in ("broker", "tool") and work.keeps_undo and scene.random.random() < 0.5
    if by_file:
        seconds = scene.log_uniform(0.001, 0.5)
        wait_until(
            lambda: bool(scene.undo_files) or is_over(process),
            "the undo file is there",
            timeout_s=END_S,
            pause_s=0.002,
        )
    goes_on_for(process, seconds)
    since = "the undo file was there" if by_file else "its start"
    over = ", when it had ended" if is_over(process) else ""
    scene.told.append(f"{seconds:.3f} s after {since}{over}")


def _kill_broker(scene: Scene, _: Program) -> None:
    node = scene.random.choice(scene.trio.node_ids)
    at_once = scene.random.random() < 0.5
    scene.trio.kill(node)
    scene.told.append(f"kill -9 broker {node}, started {'at once' if at_once else 'afterwards'}")
    if at_once:
        scene.trio.start()


def _pause_broker(scene: Scene, process: Program) -> None:
    node, seconds = scene.random.choice(scene.trio.node_ids), scene.log_uniform(0.2, 12.0)
    scene.told.append(f"SIGSTOP broker {node} for {seconds:.1f} s or until the end")
    scene.trio.pause(node)
    try:
        goes_on_for(process, seconds)
    finally:
        scene.trio.go_on(node)


def _restart_broker(scene: Scene, _: Program) -> None:
    node = scene.random.choice(scene.trio.node_ids)
    scene.told.append(f"restart broker {node}")
    scene.trio.stop_brokers([node])
    scene.trio.start()


def _kill_tool(scene: Scene, process: Program) -> None:
    scene.told.append("SIGKILL the command")
    if not is_over(process):
        process.kill()


def _second_tool(scene: Scene, _: Program) -> None:
    scene.told.append("a second command does the same")
    other = Child([PROGRAM, *scene.words], env=scene.env)

    def end() -> None:
        with other:
            _, stderr = other.communicate(timeout=END_S)
        scene.others.append((other.returncode, stderr))

    scene.stack.callback(end)


def _join(scene: Scene, process: Program) -> None:
    joined = scene.random.sample(list(scene.groups), GUESTS)
    scene.told.append(f"a member joins each of {', '.join(joined)}")
    for group in joined:
        guest = LiveGroup(scene.trio.bootstrap, group, [MemberSpec("guest", (FIRST,))])
        live = scene.stack.enter_context(guest)
        scene.stack.callback(live.wait_stable, PARTITIONS[FIRST])


def _recreate(scene: Scene, _: Program) -> None:
    scene.told.append(f"topic {SECOND} is deleted and made again")
    recreate(scene.trio, SECOND, PARTITIONS[SECOND])


def _nothing(scene: Scene, _: Program) -> None:
    scene.told.append("the undo file cannot be written")


def _unwritable(folder: Path) -> Path:
    """A folder in which nothing can be made, by root neither."""
    if os.geteuid() == 0:
        return Path("/proc/undo")
    made = folder / "read-only"
    made.mkdir(mode=0o500)
    return made


DISTURBANCES: Final = {
    "kill -9 a broker": Disturbance("broker", _kill_broker),
    "SIGSTOP a broker": Disturbance("broker", _pause_broker),
    "restart a broker": Disturbance("broker", _restart_broker),
    "SIGKILL the command": Disturbance("tool", _kill_tool),
    "a second command": Disturbance(
        "second", _second_tool, lambda work: not work.is_shift, (0.001, 0.3)
    ),
    "members join": Disturbance("members", _join, lambda work: work.takes_members, (0.001, 0.3)),
    "a topic is recreated": Disturbance(
        "topic", _recreate, lambda work: work.follows_commits, (0.001, 0.5)
    ),
    "the undo folder is full": Disturbance(
        "folder", _nothing, lambda work: work.keeps_undo, before="ulimit -f 8"
    ),
    "the undo folder is read-only": Disturbance(
        "folder", _nothing, lambda work: work.keeps_undo, undo_dir=_unwritable
    ),
}


def words_of(line: str, **values: str) -> list[str]:
    """The words of a line, as a shell reads them."""
    return [word.format(**values) for word in shlex.split(line)]
