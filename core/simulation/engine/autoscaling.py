"""An autoscaler at work: it looks at a group again and again, and makes or ends pods."""

from typing import Final

from kgroups.core.simulation.engine.network import START_MS
from kgroups.core.simulation.engine.schedule import kill_after
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.kubernetes.scaling_rules import (
    SYNC_MS,
    Autoscaler,
    Scaling,
    capped_lag,
    stabilised,
    wanted_for_cpu,
    wanted_for_lag,
)
from kgroups.core.simulation.scenario.scenario_model import MemberPlan
from kgroups.core.simulation.world.process import Seat

MAX_SCALINGS: Final = 1_000


class Scaler:
    """The autoscaler of one group."""

    def __init__(self, world: World, group: str, plan: Autoscaler) -> None:
        self._world, self._plan = world, plan
        self._state = world.groups[group]
        like = self._state.plan.like(plan.entry)
        assert like is not None, "check_scenario has seen to that"
        self._like: MemberPlan = like
        self._wishes: list[tuple[int, int]] = []
        self._active_ms = world.now_ms
        self._read, self._looked_ms = 0, world.now_ms

    def begin(self) -> None:
        """Look from now on."""
        agenda, now_ms = self._world.agenda, self._world.now_ms
        self._wishes = [(now_ms, len(self._pods()))]
        agenda.at(now_ms + SYNC_MS, self._sync)
        if self._plan.keda:
            agenda.at(now_ms + self._plan.polling_ms, self._poll)

    # ------------------------------------------------------------------ what there is

    def _pods(self) -> list[Seat]:
        """Pods that are there or coming, and were not told to end."""
        entry = self._like.entry
        return [
            seat
            for seat in self._state.seats.values()
            if seat.plan.entry == entry and not seat.retired
            if seat.coming or (seat.process is not None and not seat.process.closing)
        ]

    def _lags(self) -> list[int]:
        """Records after the last commit, of each partition."""
        logs, committed = self._world.logs.partitions, self._state.ledger.committed
        now_ms = self._world.now_ms
        return [
            max(0, logs[partition].end(now_ms) - committed.get(partition, 0))
            for partition in self._state.ledger.accounts
        ]

    def _busy_percent(self, pods: int) -> float:
        """Mean share of the time since the last look that pods spent with records."""
        for process in self._world.processes.values():
            process.app.run_to(self._world.now_ms)
        read, now_ms = self._state.ledger.highest.read, self._world.now_ms
        busy_ms = (read - self._read) * self._like.record.mean_ms
        passed_ms = now_ms - self._looked_ms
        self._read, self._looked_ms = read, now_ms
        return 100 * min(1.0, busy_ms / (passed_ms * pods)) if passed_ms else 0.0

    # ------------------------------------------------------------------ looking

    def _sync(self) -> None:
        """The HPA looks; with no pods at all it rests, and during a deploy it waits."""
        world, plan, now_ms = self._world, self._plan, self._world.now_ms
        world.agenda.at(now_ms + SYNC_MS, self._sync)
        current = len(self._pods())
        if not current or self._state.rollouts:
            return
        lags = self._lags()
        if plan.metric == "cpu":
            wish = wanted_for_cpu(current, self._busy_percent(current), plan.threshold)
        else:
            wish = wanted_for_lag(current, capped_lag(plan, lags), plan.threshold)
        wish = max(max(1, plan.least), min(wish, plan.most))
        oldest_ms = now_ms - max(plan.up_ms, plan.down_ms)
        self._wishes = [(at, n) for at, n in self._wishes if at >= oldest_ms]
        self._wishes.append((now_ms, wish))
        self._scale(current, stabilised(plan, current, self._wishes, now_ms), sum(lags))

    def _poll(self) -> None:
        """KEDA looks whether anybody is needed."""
        world, plan, now_ms = self._world, self._plan, self._world.now_ms
        world.agenda.at(now_ms + plan.polling_ms, self._poll)
        if self._state.rollouts:
            return
        lag, current = sum(self._lags()), len(self._pods())
        if lag > plan.activation:
            self._active_ms = now_ms
            if not current:
                self._scale(0, max(1, plan.least), lag)
        elif current and not plan.least and now_ms - self._active_ms >= plan.cooldown_ms:
            self._scale(current, 0, lag)

    # ------------------------------------------------------------------ doing

    def _scale(self, current: int, wanted: int, lag: int) -> None:
        if wanted == current:
            return
        world, state = self._world, self._state
        scaling = Scaling(world.now_ms - START_MS, current, wanted, lag)
        if len(state.scalings) < MAX_SCALINGS:
            state.scalings.append(scaling)
        name, text = state.plan.name, f"from {current} to {wanted} with a lag of {lag}"
        world.recorder.line(world.now_ms, name, "autoscaler", "scaled", text)
        for _ in range(wanted - current):
            self._make()
        for seat in reversed(self._pods()[max(0, wanted) :]):
            self._end(seat)

    def _make(self) -> None:
        seat = self._state.add_like(self._state.plan, self._like)
        seat.coming = True
        self._world.agenda.at(self._world.now_ms + self._plan.startup_ms, self._start, seat)

    def _start(self, seat: Seat) -> None:
        seat.coming = False
        self._world.start(seat)

    def _end(self, seat: Seat) -> None:
        """SIGTERM, and the end of the grace period."""
        seat.retired, seat.coming = True, False
        process = seat.process
        if process is not None:
            self._world.close(seat)
            kill_after(self._world, process, self._plan.grace_ms)
