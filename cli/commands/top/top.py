"""`kgroups top`: a live screen of groups."""

import os
import select
import signal
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from kgroups.cli.commands.describe.describe_report import describe_items, describe_report
from kgroups.cli.commands.top.board import Board
from kgroups.cli.commands.top.screen import COLUMNS, Screen, keys_in, lines_of
from kgroups.cli.exits import end_with, now_ms
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import View
from kgroups.cli.params import GlobalOptions, options_of
from kgroups.cli.signals import be_quiet, told_to_end
from kgroups.cli.source import cluster
from kgroups.cli.usage import Text, argument, option
from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.group_item import View as ItemView
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.lag.held_back import held_partitions
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import parse_duration_ms, timestamp

SCHEMA = "kgroups.top/1"
HELP = """Show groups live: state, members, lag, rates, rebalances.

The groups on the screen are read each second (--every), as are the states
of all groups; the figures of the others follow, 200 groups at a time.
RATE-IN and RATE-OUT are records per second over the last 10 seconds,
CATCH-UP-SECONDS is the time to catch up at these rates, and REBALANCES
counts those seen since the start. HELD, shown if there are any, counts
partitions that an open transaction holds back. --once prints one frame
after two looks, in any output format.

KEYS
  up, down, PgUp, PgDn, j, k   select a group
  /        filter by part of the name as you type; Enter keeps, Esc clears it
  s, r     sort by the next column; reverse
  Enter    members and partitions of the group; q or Esc goes back
  p, e     `kgroups plan` and `kgroups peek` of the group
  q        quit (Ctrl-C too)

EXAMPLES
  kgroups top
  kgroups top 'orders-*' --every 5s
  kgroups top billing --once -o json
"""
_ENTER: Final = "\x1b[?1049h\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"


def top(
    ctx: typer.Context,
    pattern: Annotated[Text, argument("[PATTERN]", "Glob, or part of a name.")] = None,
    every: Annotated[str, option("--every TIME", "Time between two looks.")] = "1s",
    once: Annotated[bool, option("--once", "Print one frame and end.")] = False,
) -> None:
    options = options_of(ctx)
    every_s = parse_duration_ms(every, least_ms=100, most_ms=3_600_000) / 1_000
    board = Board(pattern)
    if not once and (options.output != "table" or not (sys.stdin.isatty() and sys.stdout.isatty())):
        raise UsageError(
            "the live screen requires a terminal and --output table",
            hint="use --once for one frame",
        )
    with cluster(options) as admin:
        if once:
            _show_once(Printer(options), board, admin, every_s)
        else:
            _Live(board, admin, options, every_s).run()


def _show_once(printer: Printer, board: Board, admin: ClusterAdmin, every_s: float) -> None:
    """One frame, as a report: of two looks, since rates take two."""
    board.look(admin, every=True)
    time.sleep(every_s)
    board.look(admin, every=True)
    assert board.newest is not None, "it has looked"
    items = [row._asdict() for row in board.rows]
    report = Report.of(
        board.newest,
        SCHEMA,
        items,
        (View("group", COLUMNS, lambda item: [tuple(item.values())]),),
        errors=board.errors,
        summary=lambda: {"groups": len(items)},
    )
    printer.show(report)
    end_with(report.errors)


class _Live:
    """The screen on a terminal, until a key or a signal ends it."""

    def __init__(
        self, board: Board, admin: ClusterAdmin, options: GlobalOptions, every_s: float
    ) -> None:
        self._board, self._admin, self._options = board, admin, options
        self._every_s = every_s
        self._screen = Screen()
        self._wakes, self._resized = os.pipe()

    def run(self) -> None:
        """Look, show, and obey keys."""
        os.set_blocking(self._resized, False)
        before = signal.signal(signal.SIGWINCH, lambda *_: os.write(self._resized, b"w"))
        try:
            with _screen_of_its_own():
                self._loop()
        except KeyboardInterrupt:
            be_quiet()
            if told_to_end():
                raise
        finally:
            signal.signal(signal.SIGWINCH, before)
            os.close(self._wakes)
            os.close(self._resized)

    def _loop(self) -> None:
        screen, next_look = self._screen, 0.0
        while True:
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + self._every_s
                self._look()
            self._draw()
            left_s = max(0.0, next_look - time.monotonic())
            ready, _, _ = select.select([sys.stdin, self._wakes], [], [], left_s)
            if self._wakes in ready:
                os.read(self._wakes, 64)
            if sys.stdin not in ready:
                continue
            typed = os.read(sys.stdin.fileno(), 1_024)
            if not typed:
                return
            for key in keys_in(typed.decode(errors="ignore")):
                asked = screen.press(key)
                if asked == "quit":
                    return
                if asked is not None:
                    self._run_command(asked)
            self._show_details()

    def _look(self) -> None:
        screen = self._screen
        opened = [] if screen.opened is None else [screen.opened]
        try:
            self._board.look(self._admin, {*screen.window, *opened})
        except KgroupsError as error:
            screen.status = f"error: {error.message}"
            return
        failed = self._board.errors
        screen.status = f"error: {failed[0].text}" if failed else ""
        screen.rows = self._board.rows
        screen.at = timestamp(now_ms())
        screen.arrange()
        self._show_details()

    def _show_details(self) -> None:
        screen = self._screen
        if screen.opened is not None:
            screen.details = _details(self._board.of_group(screen.opened), screen.opened)

    def _draw(self) -> None:
        screen = self._screen
        size = os.get_terminal_size(sys.stdout.fileno())  # COLUMNS would not follow a new size
        screen.width, screen.height = size.columns or 80, size.lines or 24
        if screen.opened is None:
            screen.arrange()
        lines = [f"{line}\x1b[K" for line in screen.frame()][: screen.height]
        sys.stdout.write("\x1b[H" + "\n".join(lines) + "\x1b[J")
        sys.stdout.flush()

    def _run_command(self, verb: str) -> None:
        """Run `kgroups plan` or `kgroups peek` of the group on the usual screen."""
        group = self._screen.opened or self._screen.selected
        if group is None:
            return
        with _usual_screen():
            line = [sys.executable, sys.argv[0], verb, *_way(self._options), "--", group]
            subprocess.run(line, check=False)
            sys.stdout.write("\nEnter goes back to the screen ")
            sys.stdout.flush()
            sys.stdin.readline()


def _way(options: GlobalOptions) -> Iterator[str]:
    """The options that lead to the same cluster."""
    if options.context is not None:
        yield from ("--context", options.context.name)
    if options.bootstrap_server is not None:
        yield from ("--bootstrap-server", options.bootstrap_server)
    if options.command_config is not None:
        yield from ("--command-config", str(options.command_config))


def _details(snapshot: ClusterSnapshot | None, name: str) -> Sequence[str]:
    """Members and partitions of a group, as `describe` shows them."""
    group = None if snapshot is None else snapshot.group(name)
    if snapshot is None or group is None:
        return ["not read yet"]
    alone = ClusterSnapshot(
        snapshot.captured_at_ms, groups=(group,), topics=snapshot.topics, brokers=snapshot.brokers
    )
    views: tuple[ItemView, ...] = ("members", "offsets")
    held = {name: held_partitions(alone, group)}
    items = list(
        describe_items(alone, views, uncommitted=None, isolation="read_uncommitted", held=held)
    )
    report = describe_report(alone, views, items, schema=SCHEMA)
    lines: list[str] = []
    for view in report.views:
        shown = [(at, column) for at, column in enumerate(view.columns) if not column.verbose]
        rows = [tuple(row[at] for at, _ in shown) for row in view.rows_of(items)]
        lines += [*lines_of([column for _, column in shown], rows), ""]
    return lines


@contextmanager
def _screen_of_its_own() -> Iterator[None]:
    """Keys come one by one, and the terminal shows afterwards what it showed before."""
    mode = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        sys.stdout.write(_ENTER)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, mode)
        sys.stdout.write(_LEAVE)
        sys.stdout.flush()


@contextmanager
def _usual_screen() -> Iterator[None]:
    """The terminal as other programs want it, for a while."""
    mode = termios.tcgetattr(sys.stdin)
    usual = termios.tcgetattr(sys.stdin)
    usual[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, usual)
    sys.stdout.write(_LEAVE)
    sys.stdout.flush()
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, mode)
        sys.stdout.write(_ENTER)
        sys.stdout.flush()
