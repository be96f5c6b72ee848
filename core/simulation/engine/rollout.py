"""A deploy as it goes on: which pods are made and ended when, as Kubernetes' controllers do it.

Source: the deployment controller's rolling update (reconcileNewReplicaSet,
reconcileOldReplicaSets), the stateful set controller's, and the kubelet's back-off.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from kgroups.core.simulation.engine.schedule import kill_after
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.figures.deploy_window import SUPERSEDED, DeployWindow
from kgroups.core.simulation.kubernetes.deploy_event import Deploy, fenceposts
from kgroups.core.simulation.kubernetes.new_version import changed_group, changed_member
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan
from kgroups.core.simulation.scenario.subscriptions import reads
from kgroups.core.simulation.world.process import Process, Seat

# How often a controller looks without being told of a change.
RESYNC_MS: Final = 1_000
# A container that ends is started again at once, then after 10 s, 20 s, ... up to five minutes.
FIRST_BACKOFF_MS: Final = 10_000
MAX_BACKOFF_MS: Final = 300_000


# The group as members of a version see it, and one plan for each of its pods.
Version = tuple[GroupPlan, tuple[MemberPlan, ...]]


class Pod:
    """A pod of a rollout.

    Attributes:
        new: of the new version.
        process: what runs in it; None before its consumer is made.
        ready: for long enough.
        crashes: how often its process has ended by itself.
        ending: it was told to end.
    """

    def __init__(self, seat: Seat, *, new: bool) -> None:
        self.seat, self.new = seat, new
        self.process: Process | None = seat.process
        self.ready = not new
        self.crashes = 0
        self.ending = False

    @property
    def available(self) -> bool:
        """Whether it counts: one whose process has ended, or is ending, does not."""
        process = self.seat.process
        running = process is not None and process is self.process and not process.closing
        return self.ready and running and not self.ending

    def come_back(self) -> None:
        """A process that was started again by itself is this pod's too."""
        if self.process is None or not self.process.alive:
            self.process = self.seat.process


class Rollout:
    """One deploy of one entry.

    Args:
        seats: where its pods are.
        version: what it replaces: the group as its members see it, and the pods' plans, one each.
    """

    def __init__(
        self, world: World, event: Deploy, entry: str, seats: Iterable[Seat], version: Version
    ) -> None:
        group, plans = version
        self._world, self._event, self._entry = world, event, entry
        self._state = world.groups[event.group]
        self._pods = [Pod(seat, new=False) for seat in seats]
        self._group = changed_group(group, event.change)
        self._plans = {plan.name: changed_member(group, plan, event.change) for plan in plans}
        self._replicas = replicas = len(plans)
        self._surge, self._unavailable = fenceposts(event.surge, event.unavailable, replicas)
        self._over = False
        self._leaving = 0
        record = world.recorder.told[event.group]
        self._window = DeployWindow(
            entry, event.kind, replicas, self._state.ledger, lambda: record.count, world.now_ms
        )
        self._progress_ms = world.now_ms

    def begin(self) -> None:
        """The manifest is applied."""
        self._state.deploys.append(self._window)
        self._state.rollouts[self._entry] = self.supersede
        self._world.pending += 1
        if self._event.kind == "StatefulSet":
            self._pods.sort(key=lambda pod: ordinal(pod.seat.name), reverse=True)
        self._resync()

    def supersede(self) -> Version:
        """Another deploy takes over: pods whose consumer is not made yet never are."""
        for pod in self._pods:
            if pod.seat.process is None and self._event.kind == "Deployment":
                pod.seat.retired = True
        self._finish(SUPERSEDED)
        self._window.close(self._world.now_ms)
        return self._group, tuple(self._plans.values())

    # ------------------------------------------------------------------ the controller

    def _resync(self) -> None:
        if self._over:
            return
        for pod in self._pods:
            pod.come_back()
        self._reconcile()
        if self._over:
            return
        if self._world.now_ms - self._progress_ms >= self._event.deadline_ms:
            failures = [text for pod in self._pods if pod.new for text in pod.seat.failures]
            self._finish(failures[-1] if failures else "no progress")
            self._window.close(self._world.now_ms)
            return
        self._world.agenda.at(self._world.now_ms + RESYNC_MS, self._resync)

    def _reconcile(self) -> None:
        if self._over:
            return
        if self._event.kind == "StatefulSet":
            self._next_ordinal()
        else:
            while self._scale_up() or self._scale_down():
                self._progress_ms = self._world.now_ms
        if all(pod.new and pod.available for pod in self._pods):
            self._complete()

    def _scale_up(self) -> bool:
        """Make as many new pods as the surge allows."""
        new = sum(pod.new for pod in self._pods)
        room = self._replicas + self._surge - len(self._pods)
        count = min(room, self._replicas - new)
        for plan in list(self._plans.values())[new : new + max(0, count)]:
            self._make(plan)
        return count > 0

    def _scale_down(self) -> bool:
        """End as many old pods as may be missing, those that do not run first, then the newest."""
        pods = self._pods
        least = self._replicas - self._unavailable
        old = [pod for pod in pods if not pod.new]
        new_missing = sum(pod.new and not pod.available for pod in pods)
        most = len(pods) - least - new_missing
        ill = [pod for pod in old if not pod.available][: max(0, most)]
        for pod in ill:
            self._terminate(pod)
        count = sum(pod.available for pod in self._pods) - least
        well = [pod for pod in reversed(old) if pod.available] if most > 0 else []
        chosen = well[: max(0, count)]
        for pod in chosen:
            self._terminate(pod)
        return bool(ill or chosen)

    def _next_ordinal(self) -> None:
        """Replace the pod of the highest ordinal, where every other one is well."""
        if any(not pod.available for pod in self._pods):
            return
        pod = next((pod for pod in self._pods if not pod.new), None)
        if pod is not None:
            self._progress_ms = self._world.now_ms
            self._terminate(pod)

    # ------------------------------------------------------------------ pods

    def _make(self, like: MemberPlan) -> None:
        """A pod of a Deployment has a name of its own."""
        pod = Pod(self._state.add_like(self._group, like), new=True)
        self._pods.append(pod)
        self._start_soon(pod)

    def _start_soon(self, pod: Pod, after_ms: int = 0) -> None:
        pod.seat.coming = True
        at_ms = self._world.now_ms + after_ms + self._event.startup_ms
        self._world.agenda.at(at_ms, self._start, pod)

    def _start(self, pod: Pod) -> None:
        world, seat = self._world, pod.seat
        seat.coming = False
        if pod.ending or (self._over and self._event.kind == "Deployment"):
            return
        if seat.process is None:
            self._state.expect(seat.group, (seat.plan,), world.brokers.topology, world.now_ms)
            world.start(seat)
        process = pod.process = seat.process
        if process is None:
            return
        if process.then is None:
            process.then = lambda: self._crashed(pod, process)
        ready_ms = self._event.readiness_ms + self._event.min_ready_ms
        world.agenda.at(world.now_ms + ready_ms, self._ready, pod, process)

    def _ready(self, pod: Pod, process: Process) -> None:
        if process.alive and not process.closing and pod.process is process:
            pod.ready = True
            self._progress_ms = self._world.now_ms
            self._reconcile()

    def _crashed(self, pod: Pod, process: Process) -> None:
        """The process ended by itself: the kubelet starts it again."""
        if self._over or pod.ending:
            return
        pod.crashes += 1
        doubled = min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** min(10, max(0, pod.crashes - 2)))
        self._start_soon(pod, 0 if pod.crashes == 1 else doubled)

    def _terminate(self, pod: Pod) -> None:
        """SIGTERM, and the end of the grace period."""
        world, event, seat = self._world, self._event, pod.seat
        pod.ending = True
        self._leaving += 1
        if event.kind == "Deployment":
            seat.retired = True
            self._pods.remove(pod)
        process = seat.process
        if process is None:
            self._gone(pod)
        elif not event.graceful:
            process.then = lambda: self._gone(pod)
            world.kill(seat)
        else:
            if process.closing:
                process.then = lambda: self._gone(pod)
            else:
                world.close(seat, lambda: self._gone(pod))
            kill_after(world, process, event.grace_ms)

    def _gone(self, pod: Pod) -> None:
        """Its process has ended."""
        self._leaving -= 1
        event, seat = self._event, pod.seat
        if event.kind == "StatefulSet":
            seat.group, seat.plan = self._group, self._plans[seat.name]
            place = self._pods.index(pod)
            self._pods[place] = new = Pod(seat, new=True)
            self._start_soon(new)
        if self._over:
            self._wind_up()
        else:
            # Not within the step that ended the process.
            self._world.agenda.at(self._world.now_ms, self._reconcile)

    # ------------------------------------------------------------------ the end

    def _complete(self) -> None:
        world = self._world
        self._window.complete(world.now_ms)
        world.recorder.line(world.now_ms, self._event.group, "deploy", "complete", self._entry)
        self._finish(None)
        self._wind_up()

    def _finish(self, failure: str | None) -> None:
        """No more pods are made or ended."""
        world, state = self._world, self._state
        self._over = True
        self._window.failure = failure
        if failure is not None:
            world.recorder.line(world.now_ms, self._event.group, "deploy", "failed", failure)
        del state.rollouts[self._entry]
        world.pending -= 1
        world.last_ms = world.now_ms
        if not state.rollouts:
            waiting, state.when_rolled = state.when_rolled, []
            for then in waiting:
                world.agenda.at(world.now_ms, then)

    def _wind_up(self) -> None:
        """Every old process is gone: the group is what its new members are, and is to settle."""
        if self._leaving or self._window.failure is not None:
            return
        world, state, change = self._world, self._state, self._event.change
        state.plan = self._new_plan(state.plan)
        if change.topics or change.pattern is not None:
            topics = [name for name in world.brokers.topology.topics if reads(state.plan, name)]
            state.ledger.retire(topics, world.now_ms)
        world.last_ms = world.now_ms
        world.judge(state)
        if state.whole_since_ms is not None:
            self._window.settle(world.now_ms)
        else:
            state.when_whole.append(lambda: self._window.settle(world.now_ms))

    def _new_plan(self, group: GroupPlan) -> GroupPlan:
        """The group with this entry's members as they are now."""
        new = tuple(self._plans.values())
        others = tuple(plan for plan in group.members if plan.entry != self._entry)
        change = self._event.change
        templates = tuple(
            changed_member(group, template, change) if template.entry == self._entry else template
            for template in group.templates
        )
        protocol = self._group.protocol
        return replace(group, protocol=protocol, members=(*others, *new), templates=templates)


def ordinal(name: str) -> int:
    """The number at the end of a pod's name; 0 without one."""
    number = name.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def roll_out(world: World, event: Deploy) -> None:
    """Apply the new version to one entry of a group, or to each of them at once."""
    state = world.groups[event.group]
    entries: dict[str, list[Seat]] = {}
    for seat in state.seats.values():
        there = (seat.process is not None and not seat.process.closing) or seat.coming
        if there and not seat.retired and event.entry in (None, seat.plan.entry):
            entries.setdefault(seat.plan.entry, []).append(seat)
    for entry, seats in entries.items():
        supersede = state.rollouts.get(entry)
        if supersede is None:
            version: Version = state.plan, tuple(seat.plan for seat in seats)
        else:
            version = supersede()
        here = [seat for seat in seats if not seat.retired]
        Rollout(world, event, entry, here, version).begin()
