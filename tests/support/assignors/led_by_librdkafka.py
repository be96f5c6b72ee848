"""A librdkafka consumer that leads made-up groups; its process is started anew when it dies."""

import subprocess
import sys
from typing import Self

from kgroups.assignors.spec import AssignmentRequest
from tests.support.assignors.agreement import LeaderFailedError, Observed
from tests.support.assignors.histories import Plan
from tests.support.assignors.made_up_groups import MadeUpGroups
from tests.support.kafka.child import Child

CONSUMER = "tests.support.assignors.librdkafka_consumer"
DEATH_S = 60.0


class LedByLibrdkafka:
    """The leader; a context manager.

    Args:
        strategy: what the groups use.
    """

    def __init__(self, strategy: str) -> None:
        self._strategy = strategy
        self.deaths = 0

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.kill()
        self._end()

    @property
    def joined_with(self) -> list[bytes]:
        """The subscription of each of its joins; the first generation is 1."""
        return self._groups.joined_with

    def observe(self, request: AssignmentRequest) -> list[Observed]:
        """What it decides, as something that was seen once.

        Raises:
            LeaderFailedError: its process died over it.
        """
        return [Observed(self.ask(request))]

    def ask(self, request: AssignmentRequest) -> Plan:
        """What it decides.

        Raises:
            LeaderFailedError: its process died over it.
        """
        self._groups.ask(request)
        plan = self._groups.answer()
        if plan is None:
            status = self._consumer.wait(DEATH_S)
            self._end()
            self.deaths += 1
            self._start()
            raise LeaderFailedError(f"its process ended with {status}")
        decided = {member: dict(held) for member, held in plan.items()}
        return {member.member_id: decided.get(member.member_id, {}) for member in request.members}

    def _start(self) -> None:
        self._groups = MadeUpGroups(self._strategy)
        self._groups.__enter__()
        command = [sys.executable, "-m", CONSUMER, self._groups.address, self._strategy]
        quiet = subprocess.DEVNULL
        self._consumer = Child(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)

    def _end(self) -> None:
        self._consumer.__exit__(None, None, None)
        self._groups.__exit__(None, None, None)
