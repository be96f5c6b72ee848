"""Rounds of chaos: every kind of write, disturbed at a random moment, then finished and undone."""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tests.support.chaos import held
from tests.support.chaos.disturbances import (
    DISTURBANCES,
    Disturbance,
    Scene,
    wait_for_moment,
    words_of,
)
from tests.support.chaos.state import State
from tests.support.chaos.works import WORKS, Work, next_start
from tests.support.chaos.world import World
from tests.support.cli.process import environment
from tests.support.cli.runner import run
from tests.support.endings.program import Ending, Program, run_program
from tests.support.kafka.waiting import wait_for_thread

LONG: Final = "240s"
TIMEOUTS_S: Final = (60.0, 60.0, 60.0, 6.0)
JOIN_S: Final = 600.0


@dataclass(frozen=True)
class Case:
    """One command and what disturbs it.

    Args:
        seed, round: whence its random numbers come.
        work, disturbance: names.
    """

    seed: int
    round: int
    work: str
    disturbance: str

    def __str__(self) -> str:
        return f"seed {self.seed}, round {self.round}: {self.work}, {self.disturbance}"


def cases_of(seed: int, number: int) -> Iterator[Case]:
    """A case for each kind of work; after nine rounds it has met every disturbance that fits it."""
    for name, work in WORKS.items():
        fitting = [each for each, what in DISTURBANCES.items() if what.fits(work)]
        Random(f"{seed}:{name}").shuffle(fitting)
        yield Case(seed, number, name, fitting[number % len(fitting)])


@dataclass
class Tally:
    """What was done, and how the disturbed commands ended.

    Args:
        bounded: whether a command may not wait longer than it was given.
    """

    bounded: bool
    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        """For people."""
        for (work, disturbance), count in sorted(self.cases.items()):
            yield f"{count:4}  {work}, {disturbance}"
        yield f"rows of disturbed commands: {dict(self.results)}"


def play(world: World, case: Case, folder: Path, tally: Tally) -> None:
    """Play one case and hold it to everything that is promised.

    Raises:
        BrokenPromise: something did not hold; says what was done and where the cluster differs.
    """
    work, what = WORKS[case.work], DISTURBANCES[case.disturbance]
    random = Random(str(case))
    base = world.prepare(with_crew=case.work == "remove-members")
    values = _given(world, work, base, folder)
    old = base if not work.given else world.state()
    new = work.plan(base if work.given in ("reset", "half") else old)
    timeout_s = random.choice(TIMEOUTS_S) if what.sort in ("broker", "tool") else TIMEOUTS_S[0]
    scene = _scene(world, work, what, random, folder, {**values, "before": str(next_start(old))})
    ending = _disturbed(scene, what, work, timeout_s)
    world.trio.heal()
    found = held.with_starts(old, new, world.state())
    fresh = what.sort == "topic"
    checks = {
        "nothing but words of ours": held.noises(ending.code, ending.all_said),
        "the other command": [each for one in scene.others for each in held.noises(*one)],
        "old or new": held.neither(old, new, found, topic_is_new=fresh),
        "true claims": held.false_claims(ending, old, new, found, what.sort),
        "in time": held.late(ending, timeout_s) if tally.bounded else [],
    }
    if what.sort == "folder":
        checks["nothing is written"] = held.differences(old, found)
    if ending.code == 0 and what.sort not in ("second", "members", "topic"):
        checks["all is done"] = held.differences(new, found)
    _hold(case, scene, ending, checks)
    _finish(world, case, scene, ending, values, old, new)
    tally.cases[case.work, case.disturbance] += 1
    tally.results.update(held.results_of(ending))
    told = "; ".join(scene.told[1:3])
    ended = f"exit {ending.code}, {held.results_of(ending)}, of {timeout_s:g} s"
    waited = "" if ending.waited_s is None else f" waited {ending.waited_s:.1f} s"
    print(f"{case}: {told}; {ended}{waited}")


def _given(world: World, work: Work, base: State, folder: Path) -> dict[str, str]:
    """Bring about what a work begins with; what the braces of its line stand for."""
    if not work.given:
        return {}
    at, before = world.trio.bootstrap, folder / "before"
    line = (*words_of(work.setup), "--timeout", LONG, "-b", at)
    if work.given == "saved":
        saved = run(*line, "--dry-run", "--plan", str(folder / "plan.json"), "-o", "csv")
        assert saved.exit_code == 0, saved.stderr
        return {"plan": str(folder / "plan.json")}
    done = run(*line, "--yes", "--undo-dir", str(before), "-o", "csv")
    assert done.exit_code == 0, done.stderr
    if work.given == "half":
        world.put_back(base, world.groups[::2])
    (file,) = before.iterdir()
    return {"undo": str(file)}


def _scene(
    world: World,
    work: Work,
    what: Disturbance,
    random: Random,
    folder: Path,
    values: Mapping[str, str],
) -> Scene:
    place = folder if what.undo_dir is None else what.undo_dir(folder)
    undo = ["--undo-dir", str(place / "undo")] if work.keeps_undo else []
    words = [*words_of(work.line, **values), "--yes", "-b", world.trio.bootstrap, *undo]
    env = environment(XDG_STATE_HOME=str(folder / "state"))
    targets = world.targets(copies=work is WORKS["copy-offsets"])
    return Scene(world.trio, random, words, env, folder, targets)


def _disturbed(scene: Scene, what: Disturbance, work: Work, timeout_s: float) -> Ending:
    """How the command ends that is disturbed meanwhile; all but the brokers is calm again then."""
    words = [*scene.words, "--timeout", f"{timeout_s:g}s"]
    scene.told.append(f"kgroups {' '.join(words)}")
    failures: list[BaseException] = []
    threads: list[threading.Thread] = []

    def disturb(process: Program) -> None:
        try:
            wait_for_moment(scene, what, work, process)
            what.during(scene, process)
        except BaseException as failure:
            failures.append(failure)

    def begin(process: Program) -> None:
        threads.append(threading.Thread(target=disturb, args=(process,), daemon=True))
        threads[0].start()

    with scene.stack:
        try:
            ending = run_program(
                [*words, "-o", "json"],
                scene.folder,
                env=scene.env,
                before=what.before,
                meanwhile=begin,
            )
        finally:
            for thread in threads:
                wait_for_thread(thread, timeout_s=JOIN_S)
        if failures:
            raise failures[0]
    return ending


def _finish(
    world: World,
    case: Case,
    scene: Scene,
    ending: Ending,
    values: Mapping[str, str],
    old: State,
    new: State,
) -> None:
    """Finish what was disturbed, then take it back."""
    work, what = WORKS[case.work], DISTURBANCES[case.disturbance]
    fresh = what.sort == "topic"
    ends = (*work.ends_resumed, 4, 5) if fresh else work.ends_resumed  # refused, or nothing left
    undo = ["--undo-dir", str(scene.folder / "undo")] if work.keeps_undo else []
    files = scene.undo_files
    lines = [
        words_of("reset-offsets --resume {undo}", undo=str(file))
        for file in (files if not work.again else ())
    ]
    if not lines:
        again = f"{work.line} {work.past_drift if fresh else ''}"
        lines = [words_of(again, **values, before=str(next_start(old)))]
    told: dict[str, list[str]] = {}
    for line in lines:
        _run(scene, [*line, *undo], ends, told)
    found = held.with_starts(old, new, world.state())
    _hold(
        case,
        scene,
        ending,
        {
            **told,
            "finished: as planned": held.differences(new, found, topic_is_new=fresh),
            "finished: nothing of the lost topic": held.revenants(found) if fresh else [],
        },
    )
    if work.keeps_undo:
        for file in reversed(scene.undo_files):
            line = words_of("reset-offsets --undo {undo} --no-undo", undo=str(file))
            _run(scene, line, (0, 4) if fresh else (0,), told)
        found = held.with_starts(old, new, world.state())
        restored = held.differences(old, found, topic_is_new=fresh)
        lost = held.revenants(found) if fresh else []
        _hold(case, scene, ending, {**told, "undone: as before": [*restored, *lost]})


def _run(scene: Scene, line: list[str], ends: tuple[int, ...], told: dict[str, list[str]]) -> None:
    """Run what finishes or undoes the work, on a cluster that is well again."""
    words = [*line, "--yes", "-b", scene.trio.bootstrap, "--timeout", LONG, "-o", "csv"]
    outcome = run(*words)
    scene.told.append(f"kgroups {' '.join(words)}: exit {outcome.exit_code}")
    if outcome.exit_code not in ends:
        told[f"kgroups {' '.join(line)}"] = [f"exit {outcome.exit_code}: {outcome.stderr[:2_000]}"]


def _hold(case: Case, scene: Scene, ending: Ending, checks: Mapping[str, list[str]]) -> None:
    """Fail if a check has found something.

    Raises:
        BrokenPromise: with all that is needed to see what happened.
    """
    wrong = {name: found for name, found in checks.items() if found}
    if not wrong:
        return
    lines = [str(case), *scene.told]
    lines.append(f"exit {ending.code}, {held.results_of(ending)}")
    lines += [f"others: {other}" for other in scene.others]
    for name, found in wrong.items():
        lines += [f"{name}: {len(found)}", *found[: held.SHOWN]]
    raise held.BrokenPromise("\n".join([*lines, ending.said[-3_000:]]))
