"""The process of Spark's JVM: noted when it starts, and ended with what it was started for.

A JVM whose start is given up does not end by itself: PySpark takes away the file in which it would
say where it listens, and then it does not read its input either, at whose end it would end.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

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
