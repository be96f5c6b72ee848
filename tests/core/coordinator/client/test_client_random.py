"""Random lives of a group: whatever happens, in the end every partition has one owner."""

import hypothesis.strategies as st
from hypothesis import given, settings

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    SyncGroupRequest,
)
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.classic_client_world import App, World

ASSIGNORS = st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky"])
KINDS: list[type[Request]] = [
    JoinGroupRequest,
    SyncGroupRequest,
    HeartbeatRequest,
    OffsetCommitRequest,
]
CODES = [ErrorCode(code) for code in (14, 15, 16, 25, 27)]
DEEDS = st.one_of(
    st.tuples(st.just("start"), st.booleans()),
    st.tuples(st.sampled_from(["stop", "kill", "stall", "wake"]), st.integers(0, 9)),
    st.tuples(st.just("refuse"), st.sampled_from(KINDS), st.sampled_from(CODES)),
    st.tuples(st.just("lose"), st.sampled_from(KINDS)),
    st.tuples(st.just("grow"), st.integers(1, 9)),
    st.tuples(st.just("move"), st.integers(0, 5_000)),
)
SCHEDULES = st.lists(st.tuples(DEEDS, st.integers(0, 12_000)), max_size=10)
LONG_MS = 200_000  # longer than every time-out one after the other


class Life:
    """A world and the deeds done in it."""

    def __init__(self, seed: int, assignors: str, *, disjoint: bool) -> None:
        self.world, self.assignors = World(seed, disjoint=disjoint), assignors
        self.static = 0
        for _ in range(2):
            self.start(static=False)

    def start(self, *, static: bool) -> None:
        """One member more, at most six."""
        if len(self.world.living()) < 6:
            self.static += static
            instance = f"i{self.static}" if static else None
            name = f"c{len(self.world.apps)}"
            self.world.start(name, self.assignors, group_instance_id=instance)

    def do(self, deed: tuple[object, ...]) -> None:
        """Carry out one deed; on whom, the number in it says."""
        verb, *rest = deed
        world, subject = self.world, rest[0]
        if verb == "start":
            self.start(static=bool(subject))
        elif verb == "refuse":
            world.faults.setdefault(rest[0], []).append(rest[1])  # type: ignore[arg-type] # by verb
        elif verb == "lose":
            world.lost.append(subject)  # type: ignore[arg-type] # by verb
        elif verb == "grow":
            assert isinstance(subject, int)
            world.add_partitions(t=max(subject, world.topology.topics["t"].partitions))
        elif verb == "move":
            assert isinstance(subject, int)
            world.move(loading_ms=subject)
        elif world.living():
            assert isinstance(subject, int)
            living = world.living()
            self.act(str(verb), living[subject % len(living)])

    def act(self, verb: str, app: App) -> None:
        """Stop, kill, stall or wake one application."""
        if verb == "stall" or app.polls:
            if verb != "wake":
                {"stop": self.world.stop, "kill": self.world.kill, "stall": self.world.stall}[verb](
                    app
                )
        else:
            self.world.wake(app)

    def settle(self) -> None:
        """Let everybody poll and nothing more go wrong, then look."""
        self.world.faults.clear()
        self.world.lost.clear()
        for app in self.world.living():
            if not app.polls:
                self.world.wake(app)
        self.world.settle(LONG_MS)


Schedule = list[tuple[tuple[object, ...], int]]


def live(life: Life, schedule: Schedule) -> None:
    """Do what is to be done, with time in between, until everybody has come to rest."""
    for deed, pause_ms in schedule:
        life.do(deed)
        life.world.run(pause_ms)
    life.settle()


@settings(max_examples=60)
@given(st.integers(0, 2**32), ASSIGNORS, SCHEDULES)
def test_every_partition_has_one_owner_after_any_schedule(
    seed: int, assignors: str, schedule: Schedule
) -> None:
    """Members start, stop, die, stall, topics grow, the coordinator moves, answers are wrong."""
    live(Life(seed, assignors, disjoint=False), schedule)


PEACEFUL = st.lists(
    st.tuples(
        st.one_of(
            st.tuples(st.just("start"), st.just(False)),
            st.tuples(st.just("stop"), st.integers(0, 9)),
            st.tuples(st.just("grow"), st.integers(1, 9)),
        ),
        st.integers(0, 12_000),
    ),
    max_size=8,
)


@settings(max_examples=40)
@given(st.integers(0, 2**32), ASSIGNORS, PEACEFUL)
def test_no_partition_is_ever_held_twice_where_nothing_fails(
    seed: int, assignors: str, schedule: Schedule
) -> None:
    """At every `assigned` callback nobody else holds the partition, and the commit came first."""
    live(Life(seed, assignors, disjoint=True), schedule)
