"""The sandbox as users run it: `kgroups sandbox up` in a process of its own."""

import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

import psutil

from tests.support.kafka.child import Child
from tests.support.kafka.waiting import Deadline

START_TIMEOUT_S = 180.0


class SandboxProcess:
    """`kgroups sandbox up` with these arguments, on ports that the system chooses.

    Args:
        arguments: after `sandbox up --port 0`.
        start_timeout_s: until its address is there.
    """

    def __init__(self, *arguments: str, start_timeout_s: float = START_TIMEOUT_S) -> None:
        self._arguments = arguments
        self._start_timeout_s = start_timeout_s

    def __enter__(self) -> Self:
        self._stderr = tempfile.TemporaryFile(mode="w+")  # closed on exit
        command = [sys.executable, "-m", "kgroups.cli", "sandbox", "up", "--port", "0"]
        self.process = Child(
            [*command, "-o", "json", *self._arguments],
            stderr=self._stderr,
            env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        )
        self.document = self._read_document()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.end()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._stderr.close()

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker."""
        return str(self.document["cluster"]["bootstrap"])

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal and wait for the end; the exit code."""
        return self.process.stop(number)

    def rss_bytes(self) -> int:
        """Resident memory."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def stderr(self) -> str:
        """What it wrote on stderr so far."""
        position = self._stderr.tell()
        self._stderr.seek(0)
        text = self._stderr.read()
        self._stderr.seek(position)
        return text

    def _read_document(self) -> Any:
        text, deadline = "", Deadline(self._start_timeout_s)
        while line := self.process.line(deadline):
            text += line
            try:
                return json.loads(text)
            except json.JSONDecodeError:
                continue
        raise AssertionError(f"`sandbox up` ended with {self.process.wait(30)}: {self.stderr()}")


def write_lines(path: Path, *lines: str) -> Path:
    """A file of these lines."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
