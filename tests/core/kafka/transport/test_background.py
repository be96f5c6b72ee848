"""Blocking work beside an event loop: its answer, its failure, its time, and its end."""

import asyncio
import threading

import pytest

from kgroups.core.kafka.transport.background import Abort, in_background
from tests.support.kafka.waiting import wait_until


def test_answers_and_failures() -> None:
    """As if it were done here."""

    def fail(_: Abort) -> int:
        raise ValueError("no")

    async def ask() -> int:
        deadline = asyncio.get_running_loop().time() + 60
        with pytest.raises(ValueError, match="no"):
            await in_background(fail, deadline)
        return await in_background(lambda _: 7, deadline)

    assert asyncio.run(ask()) == 7


@pytest.mark.parametrize("how", ["deadline", "cancelled"])
def test_work_is_ended(how: str) -> None:
    """When its time is over, and when nobody waits any more."""
    began, ended = threading.Event(), threading.Event()

    def work(abort: Abort) -> None:
        abort.by(ended.set)
        began.set()
        assert ended.wait(60)

    async def ask() -> None:
        loop = asyncio.get_running_loop()
        if how == "deadline":
            with pytest.raises(TimeoutError):
                await in_background(work, loop.time() + 0.01)
            return
        task = asyncio.create_task(in_background(work, loop.time() + 60))
        await asyncio.to_thread(began.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    wait_until(ended.is_set, "the work to be ended")


def test_work_that_says_how_to_end_it_too_late() -> None:
    """Is ended as soon as it says it."""
    abort, ended = Abort(), threading.Event()
    abort()
    abort.by(ended.set)
    assert ended.is_set()
