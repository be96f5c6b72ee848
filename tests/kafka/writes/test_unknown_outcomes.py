"""Writes whose answers are lost, late or overtaken: what is said of them is what the cluster shows.

A proxy before the broker takes answers away, or requests; the broker carries out what reaches it.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.doubts import Doubts
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.kafka.writes.record_deletion import delete_records
from kgroups.core.offsets.result import Doubt
from kgroups.core.snapshot import CommittedOffset
from tests.support.cli.process import finish
from tests.support.cli.runner import Outcome, run
from tests.support.hostile.tampering import Conduct, TamperingProxy, Wire, lose, rewritten
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import LIFE_S, wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce
from tests.support.own_waiting import OwnWaiting

pytestmark = pytest.mark.kafka

LONG = ("--timeout", "60s")
"""For what ends as soon as everything is known."""

SHORT = ("--timeout", "6s")
"""For what is asked again after a part of this time."""

VAIN = ("--timeout", "4s")
"""For what is waited for in vain."""


class World:
    """A topic with 50 records in each of two partitions, and a group that stands at 10 and 11."""

    def __init__(self, address: str, name: str) -> None:
        self.address, self.topic, self.group = address, name, f"{name}-g"
        create_topics(address, {name: 2})
        produce(address, {(name, 0): 50, (name, 1): 50})
        self.commit({0: 10, 1: 11})

    def commit(self, offsets: dict[int, int]) -> None:
        """Commit as another client does."""
        at = {(self.topic, number): offset for number, offset in offsets.items()}
        commit_offsets(self.address, {self.group: at})

    def stands(self, group: str | None = None) -> dict[int, int]:
        """What the broker holds."""
        held = fetch_offsets(self.address, group or self.group)
        return {number: offset for (_, number), offset in held.items()}

    def reset(self, *more: str, to: str = "40") -> tuple[str, ...]:
        """The words of a reset."""
        return ("reset-offsets", self.group, "--to", to, "--all-topics", "--yes", *more)


@pytest.fixture
def world(cluster_address: str, request: pytest.FixtureRequest) -> World:
    """A topic and a group of this test's own."""
    return World(cluster_address, f"unknown-{abs(hash(request.node.nodeid)):x}")


async def never(_: Wire) -> None:
    """The connection stays, and nothing comes."""
    await asyncio.sleep(LIFE_S)


def after(count: int, conduct: Conduct) -> Conduct:
    """The conduct after so many answers that are passed on, those that settle not counted."""
    left = [count]

    async def passed_on_first(wire: Wire) -> None:
        left[0] -= not wire.settles
        if left[0] >= 0 or wire.settles:
            wire.send(wire.frame)
        else:
            await conduct(wire)

    return passed_on_first


@contextmanager
def proxied(world: World, *withheld: str, **conducts: Conduct) -> Iterator[str]:
    """The address of a proxy that withholds requests and does this to the broker's answers."""
    with TamperingProxy(world.address, conducts, withheld=withheld) as proxy:
        yield proxy.address


WRITES: dict[str, tuple[str, Callable[[World], tuple[str, ...]]]] = {
    "reset-offsets": ("offset_commit", lambda world: world.reset("--no-undo")),
    "delete-offsets": (
        "offset_delete",
        lambda world: ("delete-offsets", world.group, "--all-topics", "--yes", "--no-undo"),
    ),
    "copy-offsets": (
        "offset_commit",
        lambda world: (
            *("copy-offsets", "--from", world.group, "--to", f"{world.group}2"),
            *("--yes", "--no-undo"),
        ),
    ),
    "delete": ("delete_groups", lambda world: ("delete", world.group, "--yes")),
    "delete-records": (
        "delete_records",
        lambda world: ("delete-records", world.topic, "--before", "20", "--yes"),
    ),
}


def is_written(command: str, world: World) -> bool:
    """Whether the broker has done what the command asks for."""
    if command == "delete-records":
        logs = run("-b", world.address, "delete-records", world.topic, "--before", "1", "--dry-run")
        return logs.exit_code == 0 and " 20 " in logs.stdout
    if command == "copy-offsets":
        return world.stands(f"{world.group}2") == {0: 10, 1: 11}
    return world.stands() == ({0: 40, 1: 40} if command == "reset-offsets" else {})


@pytest.mark.share(5)
@pytest.mark.parametrize("conduct", [lose, never])
@pytest.mark.parametrize("command", WRITES)
def test_every_answer_is_lost(world: World, command: str, conduct: Conduct) -> None:
    """What is carried out is `done`, though no answer ever said so.

    One that does not come holds the connection up: what became of it is asked on another one.
    """
    api, line = WRITES[command]
    with proxied(world, **{api: conduct}) as address:
        outcome = run("-b", address, *SHORT, *line(world), "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.results) == {"done"}
    assert outcome.document["errors"] == []
    assert is_written(command, world)


@pytest.mark.share(5)
@pytest.mark.parametrize("command", WRITES)
def test_nobody_knows(world: World, command: str) -> None:
    """A request that is not answered and not carried out so far is `unknown`: exit code 3."""
    api, line = WRITES[command]
    with proxied(world, api) as address:
        outcome = run("-b", address, *VAIN, *line(world), "-o", "json")
    assert outcome.exit_code == 3, outcome.stderr
    assert set(outcome.results) == {"unknown"}
    summary = outcome.document["summary"]
    assert summary["unknown"] == len(outcome.document["items"]) > 0
    assert summary["done"] == summary["failed"] == 0
    assert {row["code"] for row in outcome.document["errors"]} == {"REQUEST_TIMED_OUT"}
    assert all("outcome unknown" in row["message"] for row in outcome.document["errors"])
    assert not is_written(command, world)


@pytest.mark.parametrize("written", [True, False])
def test_resume_settles_it(world: World, tmp_path: Path, *, written: bool) -> None:
    """Written or not: after a resume it is, and is known to be."""
    withheld = ("offset_commit",) if not written else ()
    deaf: dict[str, Conduct] = {}
    if written:
        deaf = {"offset_commit": lose, "offset_fetch": after(1, never)}
    with proxied(world, *withheld, **deaf) as address:
        outcome = run("-b", address, *VAIN, *world.reset("--undo-dir", str(tmp_path)), "-o", "json")
    assert outcome.exit_code == 3, outcome.stderr
    assert set(outcome.results) == {"unknown"}
    assert world.stands() == ({0: 40, 1: 40} if written else {0: 10, 1: 11})
    file = outcome.document["summary"]["undo_file"]
    assert f"`kgroups reset-offsets --resume {file}`" in outcome.stderr
    line = ("reset-offsets", "--resume", file, "--yes", "--no-undo", "-o", "json")
    resumed = run("-b", world.address, *LONG, *line)
    assert resumed.exit_code == 0
    assert set(resumed.results) == ({"skipped"} if written else {"done"})
    assert world.stands() == {0: 40, 1: 40}


def test_commits_of_before_are_shown_for_a_while(world: World) -> None:
    """As after a change of the coordinator: it is looked again before anything is said."""
    stale = [3]

    def change(body: dict[str, Any]) -> None:
        for group in body["groups"]:
            for topic in group["topics"]:
                for row in topic["partitions"]:
                    row["committed_offset"] = 10 + row["partition_index"]

    async def of_before(wire: Wire) -> None:
        stale[0] -= 1
        wire.send(rewritten(wire, change) if stale[0] >= 0 else wire.frame)

    with proxied(world, offset_fetch=after(1, of_before)) as address:
        outcome = run("-b", address, *LONG, *world.reset("--no-undo"), "-o", "json")
    assert stale[0] < 0
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.results) == {"done"}


def test_commits_of_before_are_shown_until_the_end(world: World) -> None:
    """Then it is said: the broker said yes, and it does not read back."""

    def change(body: dict[str, Any]) -> None:
        for row in body["groups"][0]["topics"][0]["partitions"]:
            row["committed_offset"] = 10 + row["partition_index"]

    async def of_before(wire: Wire) -> None:
        wire.send(rewritten(wire, change))

    with proxied(world, offset_fetch=after(0, of_before)) as address:
        outcome = run("-b", address, *VAIN, *world.reset("--no-undo"), "-o", "json")
    assert outcome.exit_code == 1
    assert {row["error"] for row in outcome.document["items"]} == {"NOT_VERIFIED"}
    assert "still reads back as 10" in outcome.stderr + str(outcome.document["errors"])


def test_another_reset_at_once(world: World) -> None:
    """The last writer wins, and the one before says so."""
    second: list[Outcome] = []

    async def overtaken(wire: Wire) -> None:
        line = ("-b", world.address, *LONG, *world.reset("--no-undo", to="30"), "-o", "json")
        if not second:
            second.append(await asyncio.to_thread(run, *line))
        wire.send(wire.frame)

    with proxied(world, offset_commit=overtaken) as address:
        line = ("-b", address, *LONG, *world.reset("--no-undo"), "-o", "json")
        code, stdout, stderr = finish(*line)
    assert (second[0].exit_code, set(second[0].results)) == (0, {"done"})
    assert code == 1, stderr
    document = json.loads(stdout)
    assert {row["result"] for row in document["items"]} == {"failed"}
    assert {row["error"] for row in document["items"]} == {"OVERWRITTEN"}
    assert all("reads back as 30" in row["message"] for row in document["errors"])
    assert world.stands() == {0: 30, 1: 30}


def test_all_of_it_within_the_timeout(world: World) -> None:
    """Looking, writing and reading back share one time: three waits are not three timeouts."""

    async def late(wire: Wire) -> None:
        await asyncio.sleep(2)
        wire.send(wire.frame)

    deaf = {"offset_commit": never, "offset_fetch": after(1, never), "list_offsets": late}
    with proxied(world, **deaf) as address:
        line = ("-b", address, "--timeout", "8s", *world.reset("--no-undo"), "-o", "json")
        with OwnWaiting() as waiting:
            outcome = run(*line)
    assert outcome.exit_code == 3, outcome.stderr
    assert set(outcome.results) == {"unknown"}
    assert waiting.seconds < 8 + 2  # each of the three by itself: 2 + 8 + 8


@pytest.mark.parametrize("conduct", [lose, never])
def test_members_whose_removal_is_not_answered(world: World, conduct: Conduct) -> None:
    """The member is gone, so it was removed."""
    with removable(world) as group, proxied(world, leave_group=conduct) as address:
        line = ("remove-members", group, "--instance", "till-0", "--yes", "-o", "json")
        outcome = run("-b", address, *SHORT, *line)
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.results) == {"done"}


def test_members_of_whom_nobody_knows(world: World) -> None:
    """The member is still there, and the request may still come: `unknown`."""
    with removable(world) as group, proxied(world, "leave_group") as address:
        line = ("remove-members", group, "--instance", "till-0", "--yes", "-o", "json")
        outcome = run("-b", address, *VAIN, *line)
    assert outcome.exit_code == 3, outcome.stderr
    assert set(outcome.results) == {"unknown"}


@pytest.mark.parametrize("through_librdkafka", [False, True], ids=["wire", "librdkafka"])
def test_as_a_library(world: World, *, through_librdkafka: bool) -> None:
    """A write without an answer is a `Doubt` either way; what can be read back is settled."""
    apis = ("offset_commit", "delete_records", "delete_groups")
    commits = {world.group: {(world.topic, 0): CommittedOffset(40)}}
    # A write waits in vain for all of it; librdkafka also connects anew within it.
    timeout_ms = 12_000 if through_librdkafka else 3_000
    with proxied(world, *apis) as address:
        settings = ClientSettings(address, through_librdkafka=through_librdkafka)
        with ClusterAdmin(settings, timeout_ms=timeout_ms) as admin:
            (error,) = write_commits(admin, commits).values()
            assert isinstance(error, Doubt)
            assert error.in_flight
            doubts: Doubts[tuple[str, int]] = Doubts()
            at = (world.topic, 0)
            assert isinstance(delete_records(admin, {at: 20}, doubts)[at], str)
            assert doubts.holds(at)
            (outcome,) = admin.delete_groups([world.group])
            assert (outcome.result, isinstance(outcome.error, Doubt)) == ("unknown", True)
    assert world.stands() == {0: 10, 1: 11}
    with proxied(world, delete_groups=lose) as address:
        settings = ClientSettings(address, through_librdkafka=through_librdkafka)
        with ClusterAdmin(settings, timeout_ms=6_000) as admin:
            (outcome,) = admin.delete_groups([world.group])
            assert (outcome.result, outcome.error) == ("done", None)


@contextmanager
def removable(world: World) -> Iterator[str]:
    """A group with a static member that has gone away."""
    name = f"{world.group}-m"
    with LiveGroup(world.address, name, [MemberSpec("m", (world.topic,), "till-0")]) as live:
        live.wait_stable(2)
        live.remove(live.members[0])
        describe = ("-b", world.address, "describe", name, "--members", "-o", "json")
        wait_until(
            lambda: run(*describe).document["items"][0]["members"], "the static member is there"
        )
        yield name
