"""Drives one broker's coordinator: requests in, effects carried out, one timer armed.

The coordinator knows neither clock nor log; here it gets both. Everything happens in the event
loop's thread, so a request and its effects are one step that nothing comes between.
"""

import asyncio
import struct
from collections.abc import Callable
from typing import Any

from kgroups.core.coordinator.classic.messages import LeaveGroupRequest, MemberIdentity
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Dropped, Event, Reply, Write
from kgroups.core.coordinator.groups import MemberSnapshot
from kgroups.core.coordinator.log.record_codec import decode_record
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import Topology
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.sandbox.storage.partition_log import PartitionLog

_MAX_SLEEP_S = 3600.0


class Pending:
    """A request on its way: the token it is submitted under, and its answer once there is one."""

    __slots__ = ("answer", "future")

    def __init__(self) -> None:
        self.answer: Any = None
        self.future: asyncio.Future[Any] | None = None


class Pump:
    """One broker's coordinator in an event loop.

    Args:
        coordinator: serves the partitions that `take_over` was called for.
        clock: epoch milliseconds that never go back.
        write: appends the records of a Write to the log; raises OSError if it cannot.
        tell: called with every event.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        *,
        clock: Callable[[], int],
        write: Callable[[Write], None],
        tell: Callable[[Event], None],
    ) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self._write = write
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for_ms: int | None = None

    def submit(self, request: Request) -> Any:
        """The response if it is there at once, else a future of it."""
        pending = Pending()
        self._coordinator.submit(self._clock(), pending, request)
        self._carry_out()
        if pending.answer is not None:
            return pending.answer
        pending.future = self._loop.create_future()
        return pending.future

    def find_member(self, group: str, name: str) -> MemberSnapshot | None:
        """The member of a group whose member id, instance id or client id this is."""
        for snapshot in self._coordinator.snapshot():
            if snapshot.group_id == group:
                for member in snapshot.members:
                    if name in (member.member_id, member.instance_id, member.client_id):
                        return member
        return None

    async def remove_member(self, group: str, member: MemberSnapshot) -> None:
        """Take a member out of its group; the others rebalance, as when its session ends."""
        leaver = MemberIdentity(member.member_id, member.instance_id, "its session was expired")
        answer = self.submit(
            LeaveGroupRequest(version=5, client_id="", group_id=group, members=(leaver,))
        )
        if isinstance(answer, asyncio.Future):
            await answer

    def update_topology(self, topology: Topology) -> None:
        """Take over new metadata of the cluster."""
        self._coordinator.update_topology(self._clock(), topology)
        self._carry_out()

    def resign(self, partition: int) -> None:
        """Another broker leads this partition of `__consumer_offsets` now."""
        self._coordinator.resign(self._clock(), partition)
        self._carry_out()

    def take_over(self, partition: int, log: PartitionLog) -> None:
        """This broker leads the partition now: read its log and serve its groups."""
        self._coordinator.begin_loading(partition)
        for record in log.records():
            if record.key is None:
                continue
            decoded = decode_record(record.key, record.value)
            if decoded is not None:
                self._coordinator.replay(decoded)
        self._coordinator.finish_loading(self._clock(), partition)
        self._carry_out()

    def tick(self) -> None:
        """Look at the clock anew, which somebody has set."""
        self.close()
        self._armed_for_ms = None
        self._wake()

    def close(self) -> None:
        """Fire no more timers."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _carry_out(self) -> None:
        """Carry out effects until there are none, then arm the timer."""
        while effects := self._coordinator.take():
            failed: Write | None = None
            error = ErrorCode.NONE
            for effect in effects:
                match effect:
                    case Reply(token, response, after):
                        if failed is None or after < failed.sequence:
                            self._reply(token, response)
                    case Write():
                        if failed is None:
                            error = self._append(effect)
                            failed = effect if error is not ErrorCode.NONE else None
                    case Event():
                        self._tell(effect)
                    case Dropped():
                        pass  # as at a broker, the client hears nothing until it gives up
            if failed is not None:
                self._coordinator.write_failed(self._clock(), failed, error)
        self._arm()

    def _append(self, write: Write) -> ErrorCode:
        """Append; what went wrong, or NONE."""
        try:
            self._write(write)
        except OSError:
            return ErrorCode.KAFKA_STORAGE_ERROR
        except (struct.error, OverflowError, UnicodeEncodeError):
            # A name that no record can hold, as one of more than 32,767 bytes: Kafka gives -1 too.
            return ErrorCode.MESSAGE_TOO_LARGE
        return ErrorCode.NONE

    def _reply(self, token: object, response: object) -> None:
        assert isinstance(token, Pending), "every request is submitted under a Pending"
        if token.future is None:
            token.answer = response
        elif not token.future.done():
            token.future.set_result(response)

    def _arm(self) -> None:
        """Have the next deadline wake us; a timer that is set for earlier is left alone."""
        deadline = self._coordinator.next_deadline()
        if deadline is None:
            self.close()
            self._armed_for_ms = None
            return
        if self._timer is not None and self._armed_for_ms is not None:
            if self._armed_for_ms <= deadline:
                return
            self._timer.cancel()
        delay_s = max(deadline - self._clock(), 0) / 1000
        self._armed_for_ms = deadline
        self._timer = self._loop.call_later(min(delay_s, _MAX_SLEEP_S), self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._coordinator.advance(self._clock())
        self._carry_out()
