"""The process of Spark's JVM: noted when it starts, and ended with what it was started for.

A JVM whose start is given up does not end by itself: PySpark takes away the file in which it would
say where it listens, and then it does not read its input either, at whose end it would end. One
that does read it may first finish a job and write its archive of classes. So on Linux the kernel
kills it when this process is gone, however it went.
"""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from typing import IO, Any, Final

from pyspark import SparkContext

PR_SET_PDEATHSIG: Final = 1
"""Of prctl(2): the signal that the kernel sends when the thread that started a process is gone."""

_STARTER = ThreadPoolExecutor(1, thread_name_prefix="spark-jvm")
"""The thread that starts JVMs. It stays as long as this process does, as a caller's may not."""


@contextlib.contextmanager
def starts_noted(started: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Notes the JVM that `launch_gateway` starts, which tells of it only once it has answered."""
    from pyspark import java_gateway

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **settings: Any) -> None:
            started.append(self)
            settings["preexec_fn"] = _killed_with_us(settings.get("preexec_fn"))
            starting = _STARTER.submit(super().__init__, *args, **settings)
            try:
                starting.result()
            except BaseException:  # Ctrl-C: who ends it must know its number
                wait([starting])
                raise

    before = vars(java_gateway)["Popen"]
    vars(java_gateway)["Popen"] = Noted
    try:
        yield
    finally:
        vars(java_gateway)["Popen"] = before


def _killed_with_us(before: Callable[[], object] | None) -> Callable[[], None]:
    """Code for a new process to run before it becomes the JVM.

    Args:
        before: what it would have done.
    """
    us = os.getpid()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def prepare() -> None:
        if before is not None:
            before()
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != us:  # gone already
                os.kill(os.getpid(), signal.SIGKILL)

    return prepare


def end_jvm(process: subprocess.Popen[bytes] | None, patience_s: float) -> None:
    """Lets the JVM go: it ends when its input closes.

    Args:
        patience_s: for how long it may write the archive before it is killed.
    """
    if SparkContext._gateway is not None:
        SparkContext._gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    if process is None or getattr(process, "pid", None) is None:  # None: it was never started
        return
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(timeout=patience_s)
    except BaseException as exc:  # it takes too long; or Ctrl-C
        process.kill()
        process.wait()
        if not isinstance(exc, subprocess.TimeoutExpired):
            raise


@contextlib.contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """These environment variables for the length of a block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def last_words(log: IO[bytes] | None) -> str | None:
    """The line of Spark's output that tells best why it failed."""
    if log is None:
        return None
    log.seek(0)
    text = log.read().decode(errors="replace")
    text = re.sub(r"(Error occurred during [^\n]*)\n", r"\1: ", text)  # the JVM: what, then why
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # What Java threw says more than the line of a log that announces it.
    thrown = (re.match(r"(Caused by: )?([\w$]+\.)+[\w$]+: (\S.*)", line) for line in lines)
    said = next((match[3].rstrip(".") for match in thrown if match), None)
    if said is not None:
        return said
    telling = (line for line in lines if re.search(r"Exception|Error|error:|not found", line))
    return next(telling, lines[0] if lines else None)
