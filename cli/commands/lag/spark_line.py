"""Spark's progress, on the progress line of a terminal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kgroups.cli.output.printer import Printer

if TYPE_CHECKING:
    from kgroups.core.spark.jobs import JobsDone, Watcher
    from kgroups.core.spark.session import SessionOptions


class SparkLine:
    """The step that a report is at, and how far Spark's jobs are with it.

    Args:
        printer: in a pipe or with `--quiet` it shows no line, and nobody asks Spark.
    """

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._step = ""

    def step(self, text: str) -> None:
        """Say what is being waited for."""
        self._step = text
        self._printer.waiting(text)

    @property
    def watcher(self) -> "Watcher | None":
        """Reporter of jobs; None where there is no terminal to tell it on."""
        return self._show if self._printer.has_progress else None

    def session(
        self, master: str | None, remote: str | None, conf: Iterable[str] | None = None
    ) -> "SessionOptions":
        """The session that a command's options ask for, watched by this line.

        Args:
            conf: `KEY=VALUE`, as `--conf` takes it.
        Raises:
            UsageError: one of `conf` cannot be read.
        """
        from kgroups.core.spark.session import SessionOptions
        from kgroups.core.spark.settings import parse_settings

        return SessionOptions(
            master=master,
            remote=remote,
            verbose=self._printer.options.verbose,
            watcher=self.watcher,
            conf=parse_settings(conf or ()),
        )

    def _show(self, done: "JobsDone") -> None:
        self._printer.progress(f"{self._step}: {words_of(done)}" if done.tasks else self._step)


def words_of(done: "JobsDone") -> str:
    """`stage 2 of 3, 5 of 12 tasks, 1,234 rows read`."""
    stage = min(done.stages_done + 1, done.stages)
    words = f"stage {stage} of {done.stages}, {done.tasks_done:,} of {done.tasks:,} tasks"
    return words if done.rows is None else f"{words}, {done.rows:,} rows read"
