"""asyncio for callers without an event loop: what a run gives, what stands still, what ends it."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kgroups.core.kafka.runner import Runner
from tests.support.kafka.waiting import wait_for_thread

LONG_S = 60.0


@pytest.fixture
def runner() -> Iterator[Runner]:
    """It is closed in the end."""
    made = Runner()
    yield made
    made.close()


async def give(value: int, turns: int = 0) -> int:
    """The value, after so many turns of the loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return value


async def fail() -> int:
    """Nothing but an error."""
    raise ValueError(await give(7, 1))


async def stand(told: list[str]) -> None:
    """Wait for what never comes; tell that it was given up."""
    try:
        await asyncio.get_running_loop().create_future()
    except BaseException as error:
        told.append("given up" if isinstance(error, asyncio.CancelledError) else repr(error))
        raise


def test_tasks_stand_still_between_runs(runner: Runner) -> None:
    """They go on with the next one, and are given up at the end."""
    told: list[str] = []
    tasks: list[asyncio.Task[int]] = []
    others: list[asyncio.Task[None]] = []

    async def begin() -> None:
        tasks.append(asyncio.create_task(give(3, 6)))
        others.append(asyncio.create_task(stand(told)))
        await give(0, 2)

    runner.run(begin())
    assert not tasks[0].done()
    runner.run(give(0, 8))
    assert tasks[0].done()
    assert told == []
    runner.close()
    assert told == ["given up"]


def test_what_a_run_gives(runner: Runner) -> None:
    """Its result, or its failure."""
    assert runner.run(give(5, 1)) == 5
    with pytest.raises(ValueError, match="7"):
        runner.run(fail())
    assert runner.run(give(6)) == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_nothing_comes(runner: Runner, number: signal.Signals) -> None:
    """Everything is given up in order; Python's own handler is back afterwards.

    Whichever thread gets the signal, and however shortly before the wait: asyncio may miss both.
    """
    told: list[str] = []
    waits = threading.Event()

    async def ask() -> None:
        both = [asyncio.create_task(stand(told)), asyncio.create_task(stand(told))]
        await give(0, 4)
        waits.set()
        await asyncio.gather(*both)

    def interrupt(*_: Any) -> None:
        handler = signal.getsignal(signal.SIGINT)
        assert callable(handler)
        handler(signal.SIGINT, None)

    def send() -> None:
        assert waits.wait(LONG_S)
        os.kill(os.getpid(), number)

    former = signal.signal(signal.SIGTERM, interrupt)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            runner.run(ask())
    finally:
        wait_for_thread(sender)
        signal.signal(signal.SIGTERM, former)
    assert told == ["given up"] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.set_wakeup_fd(-1) == -1
    assert runner.run(give(1)) == 1


def test_a_signal_in_a_step(runner: Runner) -> None:
    """It is not lost where the step is the last one."""

    async def ask() -> int:
        signal.raise_signal(signal.SIGINT)
        return 1

    with pytest.raises(KeyboardInterrupt):
        runner.run(ask())


def test_a_second_signal(runner: Runner) -> None:
    """Waits for nothing."""

    async def ask() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
            await asyncio.get_running_loop().create_future()
        finally:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        runner.run(ask())


def test_an_ignored_signal_stays_ignored(runner: Runner) -> None:
    """As in a job in the background."""

    async def ask() -> int:
        signal.raise_signal(signal.SIGINT)
        return await give(2, 2)

    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert runner.run(ask()) == 2
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, former)


def test_cancel(runner: Runner) -> None:
    """From another thread or a signal handler; nothing happens where nothing runs."""
    assert not runner.cancel()
    told: list[str] = []
    waits, answers = threading.Event(), list[bool]()

    async def ask() -> None:
        waits.set()
        await stand(told)

    def cancel() -> None:
        assert waits.wait(LONG_S)
        answers.append(runner.cancel())

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(KeyboardInterrupt):
        runner.run(ask())
    wait_for_thread(canceller)
    assert (told, answers) == (["given up"], [True])
    assert not runner.cancel()


def test_another_thread() -> None:
    """A loop runs in any thread, where no signal comes."""
    found: list[int] = []

    def work() -> None:
        runner = Runner()
        found.append(runner.run(give(9, 3)))
        runner.close()

    thread = threading.Thread(target=work)
    thread.start()
    wait_for_thread(thread)
    assert found == [9]
