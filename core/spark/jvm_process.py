"""The process of Spark's JVM: noted when it starts, and ended with what it was started for.

A JVM whose start is given up does not end by itself: PySpark takes away the file in which it would
say where it listens, and then it does not read its input either, at whose end it would end.
"""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import IO, Any

from pyspark import SparkContext


@contextlib.contextmanager
def starts_noted(started: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Notes the JVM that `launch_gateway` starts, which tells of it only once it has answered."""
    from pyspark import java_gateway

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **settings: Any) -> None:
            started.append(self)
            super().__init__(*args, **settings)

    before = vars(java_gateway)["Popen"]
    vars(java_gateway)["Popen"] = Noted
    try:
        yield
    finally:
        vars(java_gateway)["Popen"] = before


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
