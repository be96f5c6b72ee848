"""Futures, tasks, time limits and locks of the small loop, as asyncio has them."""

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgroups.core.kafka.loops.loop import Timer, Turns


class Cancelled(BaseException):
    """What awaits is given up; of no use to whoever catches exceptions."""


class ShortFuture:
    """Something that is still to come."""

    def __init__(self, loop: "Turns") -> None:
        self._loop = loop
        self._is_done = self._is_cancelled = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._told: list[Callable[[ShortFuture], None]] = []

    def __await__(self) -> "Generator[ShortFuture, None, Any]":
        if not self._is_done:
            yield self
        return self.result()

    def done(self) -> bool:
        """Whether it has a result, has failed, or is given up."""
        return self._is_done

    def cancelled(self) -> bool:
        """Whether it is given up."""
        return self._is_cancelled

    def result(self) -> Any:
        """The result; raises why there is none."""
        if self._is_cancelled:
            raise Cancelled
        if self._error is not None:
            raise self._error
        return self._result

    def exception(self) -> BaseException | None:
        """Why there is no result."""
        if self._is_cancelled:
            raise Cancelled
        return self._error

    def set_result(self, result: Any) -> None:
        """It has come."""
        self._result = result
        self._settle()

    def set_exception(self, error: BaseException) -> None:
        """It will not come."""
        self._error = error
        self._settle()

    def cancel(self) -> bool:
        """Give it up; False where it is done."""
        if self._is_done:
            return False
        self._is_cancelled = True
        self._settle()
        return True

    def tell(self, whom: "Callable[[ShortFuture], None]") -> None:
        """Call this in a turn of the loop when it is done."""
        if self._is_done:
            self._loop.soon(partial(whom, self))
        else:
            self._told.append(whom)

    def arrive(self) -> None:
        """What was only waited for has come, or came before."""
        if not self._is_done:
            self.set_result(None)

    def _settle(self) -> None:
        assert not self._is_done, "it has come already"
        self._is_done = True
        told, self._told = self._told, []
        for whom in told:
            self._loop.soon(partial(whom, self))


class ShortTask(ShortFuture):
    """A coroutine that goes on by itself, a step after each thing that it awaits."""

    def __init__(self, loop: "Turns", work: Coroutine[Any, Any, Any]) -> None:
        super().__init__(loop)
        self.cancelling = 0  # so often was it given up, time limits that were met aside
        self._work = work
        self._awaited: ShortFuture | None = None
        self._must_cancel = False
        loop.soon(self._step)

    def cancel(self) -> bool:
        """Give up what it awaits, which fails there; False where it is done."""
        if self._is_done:
            return False
        self.cancelling += 1
        if self._awaited is None or not self._awaited.cancel():
            self._must_cancel = True
        return True

    def _step(self, _: ShortFuture | None = None) -> None:
        self._awaited = None
        self._loop.current = self
        try:
            if self._must_cancel:
                self._must_cancel = False
                awaited = self._work.throw(Cancelled())
            else:
                awaited = self._work.send(None)
        except StopIteration as end:
            if self._must_cancel:  # since this step began
                super().cancel()
            else:
                self.set_result(end.value)
        except Cancelled:
            super().cancel()
        except (KeyboardInterrupt, SystemExit) as error:
            self.set_exception(error)
            raise
        except BaseException as error:
            self.set_exception(error)
        else:
            self._wait_for(awaited)
        finally:
            self._loop.current = None

    def _wait_for(self, awaited: ShortFuture | None) -> None:
        """Go on when this has come; None: in the next turn."""
        if awaited is None:
            self._loop.soon(self._step)
            return
        self._awaited = awaited
        awaited.tell(self._step)
        if self._must_cancel and awaited.cancel():
            self._must_cancel = False


class ShortTimeout:
    """A block that is given up at a moment."""

    def __init__(self, loop: "Turns", moment: float) -> None:
        self._loop, self._moment = loop, moment
        self._task: ShortTask | None = None
        self._timer: Timer | None = None
        self._before = 0
        self._is_over = False

    async def __aenter__(self) -> None:
        self._task = self._loop.current
        assert self._task is not None
        self._before = self._task.cancelling
        self._timer = self._loop.at(self._moment, self._expire)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        assert self._timer is not None
        self._timer.cancel()
        if not self._is_over:
            return
        self._task.cancelling -= 1
        if kind is Cancelled and self._task.cancelling <= self._before:
            raise TimeoutError from error

    def _expire(self) -> None:
        assert self._task is not None
        self._is_over = True
        self._task.cancel()


class ShortLock:
    """A lock that is entered in the order in which tasks came."""

    def __init__(self, loop: "Turns") -> None:
        self._loop = loop
        self._is_held = False
        self._waiting: deque[ShortFuture] = deque()

    async def __aenter__(self) -> None:
        if not self._is_held:
            self._is_held = True
            return
        turn = self._loop.future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # it is ours already
                self._pass_on()
            turn.cancel()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.arrive()
                return
        self._is_held = False
