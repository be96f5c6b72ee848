"""`kgroups top`: the screen as a value, one frame, and the real screen on terminals."""

import os
import pty
import re
import shlex
import struct
import termios
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from kgroups.cli.commands.top.board import Board, GroupRow
from kgroups.cli.commands.top.screen import HELP_LINE, Screen, keys_in
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import CommittedOffset
from tests.support.cli.process import PROGRAM, TIMEOUT_S, environment
from tests.support.cli.runner import run
from tests.support.kafka.child import Child, read_until, run_program
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import produce
from tests.support.requirements import requires

ROWS = [
    GroupRow("billing", "Stable", 2, 50, 0, 1.0, 2.0, 50.0, 0),
    GroupRow("mail", "Empty", 0, None),
    GroupRow("shipping", "Stable", 1, 900, 2, 5.0, 1.0, None, 3),
]
UP, DOWN, ESCAPE = "\x1b[A", "\x1b[B", "\x1b"


def screen(typed: str = "", *, height: int = 24, width: int = 100) -> Screen:
    """A screen of these groups after some keys."""
    shown = Screen(rows=ROWS, height=height, width=width)
    shown.arrange()
    for key in keys_in(typed):
        shown.press(key)
    return shown


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ["shipping", "billing", "mail"]),
        ("r", ["billing", "shipping", "mail"]),
        ("/ing\n", ["shipping", "billing"]),
        ("/ingx\x7f", ["shipping", "billing"]),
        ("/ing" + ESCAPE, ["shipping", "billing", "mail"]),
        ("s" * 6, ["shipping", "billing", "mail"]),
        ("/nobody\n", []),
    ],
    ids=["lag", "reversed", "filtered", "mistyped", "cleared", "by name", "none"],
)
def test_order_and_filter(typed: str, names: list[str]) -> None:
    """Highest lag first, unknown last; a part of the name as it is typed."""
    if typed == "s" * 6:
        names = sorted(names)
    assert screen(typed).window == names


def test_the_selected_group_stays_selected() -> None:
    """When the order changes, and when it leaves the window."""
    shown = screen(DOWN)
    assert shown.selected == "billing"
    shown.press("r")
    assert (shown.selected, shown.window[0]) == ("billing", "billing")
    small = screen(DOWN + DOWN, height=5)
    assert small.window == ["mail"] == [small.selected]
    assert screen(UP + UP).selected == "shipping"


def test_keys_ask_for_what_is_beyond_the_screen() -> None:
    """Plan and peek of a group, and the end; a filter takes the same letters as text."""
    assert [screen().press(key) for key in "peq"] == ["plan", "peek", "quit"]
    typing = screen("/")
    assert [typing.press(key) for key in "peq"] == [None, None, None]
    assert typing.filter == "peq"
    opened = screen("\n")
    assert (opened.opened, opened.press("p"), opened.press("q")) == ("shipping", "plan", None)
    assert opened.opened is None


def test_held_partitions() -> None:
    """A column, if any group on the screen has some."""
    assert re.search(r"LAG +HELD +RATE-IN.*\n.* 900 +2 ", "\n".join(screen().frame()))
    assert not any("HELD" in line for line in screen("/bill").frame())


@pytest.mark.parametrize(("height", "width"), [(24, 80), (5, 20), (3, 10), (60, 300)])
def test_a_frame_fits(height: int, width: int) -> None:
    """However small the terminal is; nothing but the mark of the selected group is a control."""
    for typed in ("", "/ship", "\n"):
        lines = [
            re.sub(r"\x1b\[[07]m", "", line)
            for line in screen(typed, height=height, width=width).frame()
        ]
        assert len(lines) <= max(height, 5)
        assert all(len(line) <= width and line.isprintable() for line in lines)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Three groups with lag."""
    with Sandbox(brokers=1, topics={"orders": 2}) as made:
        address = made.bootstrap_servers
        produce(address, {("orders", 0): 30, ("orders", 1): 12})
        commits = {("orders", 0): CommittedOffset(10), ("orders", 1): CommittedOffset(0)}
        with ClusterAdmin(ClientSettings(address), timeout_ms=60_000) as admin:
            groups = dict.fromkeys(("billing", "mail", "shipping"), commits)
            assert not any(write_commits(admin, groups).values())
        yield address


def test_one_frame_equals_describe(cluster: str) -> None:
    """Names, states, members and lag."""
    once = run("top", "*i*g*", "--once", "--every", "100ms", "-b", cluster, "-o", "json").document
    told = run(
        "describe", "billing", "shipping", "--state", "--offsets", "-b", cluster, "-o", "json"
    )
    wanted = [
        (item["group"], item["state"], item["member_count"], item["lag"])
        for item in told.document["items"]
    ]
    found = [
        (item["group"], item["state"], item["member_count"], item["lag"]) for item in once["items"]
    ]
    assert found == wanted
    assert {item["rebalances"] for item in once["items"]} == {0}
    assert {item["rate_in"] for item in once["items"]} == {0.0}


def test_on_a_terminal(cluster: str) -> None:
    """The cells of `describe`, a filter, details, another size, and the terminal as it was."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
    before = termios.tcgetattr(follower)
    with Child(
        [PROGRAM, "top", "-b", cluster, "--every", "100ms"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment(TERM="xterm-256color"),
        start_new_session=True,
    ) as process:

        def until(pattern: str) -> None:
            wanted = re.compile(pattern.encode())
            read = read_until(leader, wanted.search, pattern, timeout_s=TIMEOUT_S)
            assert wanted.search(read), read

        until(r"> billing +Empty +0 +32 ")
        os.write(leader, b"/shipp\n")
        until(r"1 of 3 groups[^>]*filter: shipp\x1b\[K[^>]*> shipping +Empty +0 +32 ")
        os.write(leader, b"\n")
        until(r"shipping +orders +0 +10 +30 +20")
        ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 8, 40, 0, 0))
        os.write(leader, b"q")
        until(r"q quit  / filter  s sort  r reverse  Ent\x1b\[K")
        os.write(leader, b"q")
        until(r"\x1b\[\?1049l")
        assert process.wait(TIMEOUT_S) == 0
    assert termios.tcgetattr(follower) == before
    os.close(follower)
    os.close(leader)


@requires("tmux")
def test_in_tmux(cluster: str, tmp_path: Path) -> None:
    """It draws, follows a new size, filters, and leaves the pane as it was, with exit code 0."""
    around = environment(TMUX_TMPDIR=str(tmp_path), TERM="xterm-256color")

    def tmux(*words: str) -> str:
        return run_program(["tmux", "-L", "top", *words], env=around).stdout

    def until(pattern: str) -> str:
        def shown() -> str | None:
            text = tmux("capture-pane", "-p")
            return text if re.search(pattern, text) else None

        return wait_until(shown, pattern, timeout_s=TIMEOUT_S) or ""

    with Child(["tmux", "-L", "top", "-f", "/dev/null", "-D"], env=around) as server:
        wait_until(lambda: list(tmp_path.glob("*/top")), "the server listens")
        line = shlex.join([str(PROGRAM), "top", "-b", cluster, "--every", "100ms"])
        tmux("new-session", "-d", "-x", "100", "-y", "20", "sh")
        # Not by `remain-on-exit`: that a pane is dead, tmux does not always notice.
        tmux("respawn-pane", "-k", f"{line}; echo ended with $?; exec cat")
        until(r"> billing +Empty +0 +32 ")
        tmux("resize-window", "-x", "60", "-y", "8")
        assert len(until(f"{re.escape(HELP_LINE[:60].rstrip())}\n").splitlines()) <= 8
        tmux("send-keys", "/shipp", "Enter")
        until(r"1 of 3 groups[^>]*> shipping")
        tmux("send-keys", "Enter")
        until(r"shipping +orders +0 +10 +30")
        tmux("send-keys", "q")
        until(r"1 of 3 groups")
        tmux("send-keys", "q")
        assert "shipping" not in until("ended with 0")
        tmux("kill-server")
        server.wait(TIMEOUT_S)


def fill(address: str, groups: int) -> None:
    """So many groups with six commits each."""
    commits = {("t", number): CommittedOffset(0) for number in range(6)}
    with ClusterAdmin(ClientSettings(address), timeout_ms=60_000) as admin:
        names = [f"g{number:04}" for number in range(groups)]
        for start in range(0, groups, 500):
            write_commits(admin, dict.fromkeys(names[start : start + 500], commits))


def test_each_look_is_bounded() -> None:
    """The groups on the screen each time; of the others 200 at most, until all have their turn."""
    with Sandbox(brokers=1, topics={"t": 6}) as made:
        fill(made.bootstrap_servers, 450)
        with ClusterAdmin(ClientSettings(made.bootstrap_servers), timeout_ms=60_000) as admin:
            board, known = Board(None), []
            for _ in range(4):
                board.look(admin, {"g0001"})
                assert board.newest is not None
                assert "g0001" in {group.group for group in board.newest.groups}
                known.append(sum(row.lag is not None for row in board.rows))
    assert known == [200, 399, 450, 450]
    assert len(board.rows) == 450
