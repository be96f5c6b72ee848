"""The small loop behaves as asyncio does: whatever waits, waits in the same way on both."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from kgroups.core.kafka.loops.asyncio_loop import AsyncioRunner
from kgroups.core.kafka.loops.loop import Future, Runner
from kgroups.core.kafka.loops.running import running
from kgroups.core.kafka.loops.short_future import Cancelled
from kgroups.core.kafka.loops.short_loop import ShortLoop
from tests.support.kafka.waiting import wait_for_thread

LONG_S = 60.0
GIVEN_UP = (Cancelled, asyncio.CancelledError)
RUNNERS: dict[str, Callable[[], Runner]] = {"asyncio": AsyncioRunner, "short": ShortLoop}


@pytest.fixture(params=RUNNERS)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """One of the two; it is closed in the end."""
    made = RUNNERS[request.param]()
    yield made
    made.close()


async def give(value: int, turns: int = 0) -> int:
    """The value, after so many turns of the loop."""
    for _ in range(turns):
        await running().sleep(0)
    return value


async def fail(turns: int = 0) -> int:
    """Nothing but an error, after so many turns."""
    raise ValueError(await give(7, turns))


async def stand(told: list[str]) -> None:
    """Wait for what never comes; tell that it was given up."""
    try:
        await running().future()
    except BaseException as error:
        told.append("given up" if isinstance(error, GIVEN_UP) else repr(error))
        raise


def test_gather(runner: Runner) -> None:
    """Answers in the order of the questions, whichever comes first."""

    async def ask() -> None:
        assert await running().gather(give(1, 5), give(2), give(3, 2)) == [1, 2, 3]
        assert await running().gather() == []
        task = running().spawn(give(4, 3))
        assert list(await running().gather(task, give(5))) == [4, 5]
        first, error = await running().gather(give(1, 3), fail(), return_exceptions=True)
        assert (first, repr(error)) == (1, "ValueError(7)")

    runner.run(ask())


def test_a_failure_is_raised_at_once(runner: Runner) -> None:
    """What is not done by then goes on."""

    async def ask() -> None:
        other = running().future()
        with pytest.raises(ValueError, match="7"):
            await running().gather(other, fail(2))
        assert not other.done()
        other.set_result(None)

    runner.run(ask())


def test_gather_that_is_given_up(runner: Runner) -> None:
    """Gives up all of its works, and is over when they have cleaned up."""
    told: list[str] = []

    async def ask() -> None:
        both = running().gather(stand(told), stand(told), return_exceptions=True)
        task = running().spawn(both)
        await give(0, 4)
        task.cancel()
        (outcome,) = await running().gather(task, return_exceptions=True)
        assert isinstance(outcome, GIVEN_UP)
        assert told == ["given up"] * 2

    runner.run(ask())


def test_a_time_limit(runner: Runner) -> None:
    """It ends what is awaited, and says so as a TimeoutError; what is in time is not touched."""

    async def ask() -> None:
        never = running().future()
        with pytest.raises(TimeoutError):
            async with running().timeout_at(time.monotonic() + 0.01):
                await never
        assert never.cancelled()
        async with running().timeout_at(time.monotonic() + LONG_S):
            assert await give(3, 3) == 3

    runner.run(ask())


@pytest.mark.parametrize("outer_first", [True, False])
def test_a_time_limit_within_another(runner: Runner, *, outer_first: bool) -> None:
    """The one that is over ends its own block only."""
    ended: list[str] = []

    async def ask() -> None:
        soon, late = time.monotonic(), time.monotonic() + LONG_S
        try:
            async with running().timeout_at(soon if outer_first else late):
                try:
                    async with running().timeout_at(late if outer_first else soon):
                        await running().future()
                except TimeoutError:
                    ended.append("inner")
        except TimeoutError:
            ended.append("outer")

    runner.run(ask())
    assert ended == ["outer" if outer_first else "inner"]


def test_a_lock(runner: Runner) -> None:
    """One at a time, in the order of coming; who gives up is passed over."""
    entered: list[int] = []

    async def ask() -> None:
        lock = running().lock()

        async def enter(number: int) -> None:
            async with lock:
                entered.append(number)
                await give(0, 3)

        tasks = [running().spawn(enter(number)) for number in range(4)]
        await give(0, 2)
        tasks[1].cancel()
        outcomes = await running().gather(*tasks, return_exceptions=True)
        assert isinstance(outcomes[1], GIVEN_UP)

    runner.run(ask())
    assert entered == [0, 2, 3]


def test_a_lock_given_to_one_who_gives_up(runner: Runner) -> None:
    """In the same turn: it goes on to the next."""
    entered: list[str] = []

    async def ask() -> None:
        lock = running().lock()

        async def enter(name: str) -> None:
            async with lock:
                entered.append(name)

        async with lock:
            second, third = running().spawn(enter("second")), running().spawn(enter("third"))
            await give(0, 2)
        second.cancel()  # the lock is already its own
        await running().wait([second, third], until=time.monotonic() + LONG_S)
        assert third.done()

    runner.run(ask())
    assert entered == ["third"]


def test_waits(runner: Runner) -> None:
    """For all, for the first one, for a time; what is waited for goes on in any case."""

    async def ask() -> None:
        slow, quick = running().future(), running().spawn(give(1, 2))
        await running().wait([slow, quick], first=True)
        assert (slow.done(), quick.done()) == (False, True)
        await running().wait([slow, quick], until=time.monotonic() + 0.01)
        assert not slow.done()
        with pytest.raises(TimeoutError):
            async with running().timeout_at(time.monotonic()):
                await running().wait([slow])
        assert not slow.done()
        slow.set_result(2)
        await running().wait([slow, quick])
        assert (await slow, await quick) == (2, 1)

    runner.run(ask())


def test_tasks_stand_still_between_runs(runner: Runner) -> None:
    """They go on with the next one, and are given up at the end."""
    told: list[str] = []
    tasks: list[Future] = []

    async def begin() -> None:
        tasks.append(running().spawn(give(3, 6)))
        running().spawn(stand(told))
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
        runner.run(fail(1))
    assert runner.run(give(6)) == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_nothing_comes(number: signal.Signals) -> None:
    """Everything is given up in order; Python's own handler is back afterwards.

    Whichever thread gets the signal, and however shortly before the wait: asyncio may miss both.
    """
    runner = ShortLoop()
    told: list[str] = []
    waits = threading.Event()

    async def ask() -> None:
        both = [running().spawn(stand(told)), running().spawn(stand(told))]
        await give(0, 4)
        waits.set()
        await running().gather(*both)

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
    runner.close()


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
            await running().future()
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


@pytest.mark.parametrize("name", RUNNERS)
def test_another_thread(name: str) -> None:
    """A loop runs in any thread, where no signal comes."""
    found: list[int] = []

    def work() -> None:
        runner = RUNNERS[name]()
        found.append(runner.run(give(9, 3)))
        with suppress(KeyboardInterrupt):
            runner.run(give(0))
        runner.close()

    thread = threading.Thread(target=work)
    thread.start()
    wait_for_thread(thread)
    assert found == [9]
