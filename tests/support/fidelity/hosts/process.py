"""A program that holds members of one client library and is driven by lines of JSON."""

import itertools
import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Self

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.line_process import LineProcess

ANSWER_S = 90.0


class HostFailed(RuntimeError):
    """A host, or one of its members, could not do what it was asked to."""


class HostProcess:
    """The program; safe to use from many threads.

    Args:
        told: called with what members tell unasked.
    """

    def __init__(
        self, command: Sequence[str], told: Callable[[Mapping[str, Any]], None] | None = None
    ) -> None:
        self._told = told
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._ended = False
        self._process = LineProcess(command, heard=self._hear)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End it; members that are still there are not asked to leave."""
        self._process.close()

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self._process.pid, number)

    def ask(self, op: str, **more: object) -> dict[str, Any]:
        """Its answer.

        Raises:
            HostFailed: it says so, or has ended.
        """
        request = {"op": op, **more}
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._ended:
                raise HostFailed(f"{request}: the host has ended")
            number = next(self._numbers)
            self._waiting[number] = future
            self._process.say(json.dumps({"number": number, **request}))
        answer = future.result(ANSWER_S)
        if "error" in answer:
            raise HostFailed(f"{request}: {answer['error']}")
        return answer

    def owned(self, names: Iterable[str]) -> dict[str, frozenset[TopicPartition]]:
        """What members believe to own.

        Raises:
            HostFailed: one of them has failed.
        """
        answer = self.ask("owned", names=list(names))
        if answer["failed"]:
            raise HostFailed(f"members failed: {answer['failed']}")
        return {
            name: frozenset((topic, number) for topic, number in rows)
            for name, rows in answer["owned"].items()
        }

    def _hear(self, line: str) -> None:
        if line:
            answer: Mapping[str, Any] = json.loads(line)
            if "event" in answer:
                assert self._told is not None, "nobody wants to be told"
                self._told(answer)
                return
            self._waiting.pop(answer["number"]).set_result(dict(answer))
            return
        with self._lock:
            self._ended = True
            waiting = list(self._waiting.values())
        for future in waiting:
            future.set_result({"error": "the host has ended"})
