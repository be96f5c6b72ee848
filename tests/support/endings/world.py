"""The world of the endings: an embedded cluster, files, and for each case groups of its own."""

import json
import os
import random
import shlex
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Final

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.cli_files import SCENARIO, SIMULATION
from tests.support.cli.process import environment
from tests.support.cli.runner import run
from tests.support.endings.lines import LINES, Line
from tests.support.endings.program import Ending, run_program
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import (
    admin_of,
    commit_offsets,
    create_topics,
    fetch_offsets,
    produce,
    start_offsets,
)
from tests.support.sandbox.frame_client import WireClient, join_body

TOPIC, GROUP, ALIVE = "steps", "origin", "alive"
PARTITIONS: Final = 3
OLD, RECORDS, ORIGIN = 5, 20, 7
SECRET: Final = "Zaunkoenig-4711"
CLIENT: Final = "under-test"
CONTEXTS: Final = f"""\
contexts:
  here:
    bootstrap_servers: localhost:1
    properties: {{sasl.password: {SECRET}}}
  spare: {{}}
"""

At = tuple[str, str, int]  # group, topic, partition
State = Mapping[At, int | None]


@dataclass(frozen=True)
class Place:
    """What is there for one case.

    Args:
        number: of the case.
        values: what the braces in a line stand for.
        old, new: commits before the write and after the whole of it; of records: starts of logs,
            under the group ""; of members: 1 for each that is there, under its id and 0.
    """

    number: int
    folder: Path
    values: Mapping[str, str]
    old: State = field(default_factory=dict)
    new: State = field(default_factory=dict)

    @property
    def undo_files(self) -> list[Path]:
        """What the line's own write has left, oldest first."""
        return sorted((self.folder / "undo").glob("*.json"))


class World:
    """A cluster with live members, and folders with files.

    Args:
        address: of the cluster.
        folder: for the files.
        names: what the names of its groups and topics begin with.
        sandbox: the cluster, where it is the embedded one.
    """

    def __init__(
        self, address: str, folder: Path, names: str = "", sandbox: Sandbox | None = None
    ) -> None:
        self.address = address
        self._names = names
        self._sandbox = sandbox
        self.folder = folder
        self._numbers = count(1)
        self._usual: dict[str, Ending] = {}
        write_snapshot(clusters.shop(), folder / "shop.json")
        (folder / "scenario.yaml").write_text(SCENARIO)
        (folder / "deploy.yaml").write_text(SIMULATION)

    @property
    def sandbox(self) -> Sandbox:
        """The embedded cluster."""
        assert self._sandbox is not None, "the cluster is a real one"
        return self._sandbox

    def place(self, line: Line) -> Place:
        """A place for one run of a line: files of its own, and groups if it writes."""
        number = next(self._numbers)
        folder = self.folder / str(number)
        (folder / "undo").mkdir(parents=True)
        for name in ("shop.json", "scenario.yaml", "deploy.yaml"):
            (folder / name).symlink_to(self.folder / name)
        if "/small" in line.words:
            shutil.copytree(self.folder / "captures", folder / "small")
        (folder / "config.yaml").write_text(CONTEXTS)
        secret = folder / "client.properties"
        secret.write_text(f"client.id={CLIENT}\nsasl.password={SECRET}\n")
        secret.chmod(0o600)
        own = {"group": f"g-{number}", "other": f"h-{number}", "topic": f"t-{number}"}
        names = own | {"alive": ALIVE, "origin": GROUP, "steps": TOPIC}
        values = {what: self._names + name for what, name in names.items()}
        values |= {"folder": str(folder), "undo": "", "plan": "", "port": ""}
        if "{port}" in line.words:
            values["port"] = str(free_port())
        place = Place(number, folder, values)
        if line.writes in ("offsets", "groups"):
            return self._commits(line, place)
        if line.writes == "records":
            return self._records(place)
        if line.writes == "members":
            return self._members(place)
        return place

    def _commits(self, line: Line, place: Place) -> Place:
        """The groups with their commits, and what the line makes of them."""
        names = [place.values["group"]]
        if "{other}" in line.words or line.given:
            names.append(place.values["other"])
        topic = place.values["steps"]
        rows = {name: {(topic, number): OLD for number in range(PARTITIONS)} for name in names}
        commit_offsets(self.address, rows)
        old: dict[At, int | None] = {
            (name, *at): offset for name, offsets in rows.items() for at, offset in offsets.items()
        }
        aim: int | None = 0
        if line.of.endswith("delete-offsets") or line.writes == "groups":
            aim = None
        elif line.of == "copy-offsets":
            aim = ORIGIN
        new: dict[At, int | None] = dict.fromkeys(old, aim)
        if not line.given:
            return replace(place, old=old, new=new)
        before = place.folder / "before"
        to_earliest = ("reset-offsets", *names, "--to", "earliest", "--all-topics")
        if line.given == "saved":
            plan = ("--dry-run", "--plan", str(place.folder / "plan.json"))
            saved = run("-b", self.address, *to_earliest, *plan)
            assert saved.exit_code == 0, saved.stderr
            return replace(place, values={**place.values, "plan": plan[-1]}, old=old, new=new)
        reset = run("-b", self.address, *to_earliest, "--yes", "--undo-dir", str(before))
        assert reset.exit_code == 0, reset.stderr
        (file,) = before.iterdir()
        values = {**place.values, "undo": str(file)}
        if line.given == "reset":  # and back again
            return replace(place, values=values, old=new, new=old)
        commit_offsets(self.address, {names[1]: rows[names[1]]})
        half = {at: offset if at[0] == names[1] else 0 for at, offset in old.items()}
        return replace(place, values=values, old=half, new=new)

    def _records(self, place: Place) -> Place:
        """A topic of its own, whose first records go."""
        topic = place.values["topic"]
        create_topics(self.address, {topic: 2})
        produce(self.address, {(topic, number): 10 for number in range(2)})
        rows = [{"topic": topic, "partition": number, "offset": 5} for number in range(2)]
        text = json.dumps({"partitions": rows, "version": 1})
        (place.folder / "offsets.json").write_text(text)
        old: dict[At, int | None] = {("", topic, number): 0 for number in range(2)}
        return replace(place, old=old, new=dict.fromkeys(old, 5))

    def _members(self, place: Place) -> Place:
        """A group with a member that is away for five minutes, and so does not come back."""
        group = place.values["group"]
        with WireClient(self.address) as client:
            found = client.ask(Api.FIND_COORDINATOR, 1, {"key": group, "key_type": 0})
        with WireClient(f"{found['host']}:{found['port']}") as client:
            body = join_body(group, session_timeout=300_000, rebalance_timeout=300_000)
            joined = client.ask(Api.JOIN_GROUP, 3, body)
        assert joined["error_code"] == 0, joined
        old: dict[At, int | None] = {(group, joined["member_id"], 0): 1}
        return replace(place, old=old, new=dict.fromkeys(old))

    def state(self, place: Place) -> State:
        """What the cluster holds now of what a place's line changes."""
        if any(then == 1 for then in place.old.values()):
            group = place.values["group"]
            admin = admin_of(self.address)
            described = admin.describe_consumer_groups([group])
            here = {member.member_id for member in described[group].result(60).members}
            return {at: 1 if at[1] in here else None for at in place.old}
        if any(group == "" for group, _, _ in place.old):
            starts = start_offsets(self.address, [at[1:] for at in place.old])
            return {("", *at): offset for at, offset in starts.items()}
        found: dict[At, int | None] = dict.fromkeys(place.old)
        for name in {group for group, _, _ in place.old}:
            rows = fetch_offsets(self.address, name).items()
            found |= {(name, *at): offset for at, offset in rows if offset >= 0}
        return found

    def words(
        self, line: Line, place: Place, timeout_ms: int, address: str | None = None
    ) -> list[str]:
        """The line's words in a place, with address, timeout and client configuration."""
        words = [word.format(**place.values) for word in shlex.split(line.words)]
        if not line.asks and line.of != "sandbox up":
            return words
        time = str(timeout_ms) if line.grammar == "official" else f"{timeout_ms}ms"
        more = ["--timeout", time] if line.timeout == "option" else []
        config = place.folder / "client.properties"
        if line.timeout == "property":
            config.write_text(f"{config.read_text()}default.api.timeout.ms={timeout_ms}\n")
        if line.asks:
            more += ["--bootstrap-server", address or self.address, "--command-config", str(config)]
        return [*words, *more]

    def usual(self, name: str) -> Ending:
        """How a line ends when nothing is odd; its code is asserted to be 0."""
        if name not in self._usual:
            line = LINES[name]
            place = self.place(line)
            ending = run_program(
                self.words(line, place, 60_000), place.folder, env=self.environment(place)
            )
            assert ending.code == 0, ending
            self._usual[name] = ending
        return self._usual[name]

    def settings(self, place: Place) -> dict[str, str]:
        """Environment variables for a run in a place."""
        return {
            "KGROUPS_UNDO_DIR": str(place.folder / "undo"),
            "XDG_STATE_HOME": str(place.folder / "state"),
            "KGROUPS_CONFIG": str(place.folder / "config.yaml"),
        }

    def environment(self, place: Place) -> dict[str, str]:
        """The environment of a run in a place."""
        return environment(**self.settings(place))


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """The world of an embedded cluster."""
    with (
        Sandbox(brokers=2, topics={TOPIC: PARTITIONS}) as sandbox,
        filled(World(sandbox.bootstrap_servers, folder, sandbox=sandbox)) as made,
    ):
        yield made


@contextmanager
def real_world(folder: Path, address: str, names: str) -> Iterator[World]:
    """The world of a real cluster, which others use as well."""
    create_topics(address, {names + TOPIC: PARTITIONS})
    with filled(World(address, folder, names)) as made:
        yield made


@contextmanager
def filled(world: World) -> Iterator[World]:
    """The world, with a live group, a group to copy from, and captures."""
    values = world.place(Line("", "")).values
    at, topic = world.address, values["steps"]
    every = {(topic, number): 0 for number in range(PARTITIONS)}
    produce(at, dict.fromkeys(every, RECORDS))
    commit_offsets(at, {values["origin"]: dict.fromkeys(every, ORIGIN)})
    with LiveGroup(at, values["alive"], [MemberSpec("member", (topic,))]) as live:
        live.wait_stable(PARTITIONS)
        for _ in range(2):
            made = run("-b", at, "lag", "collect", str(world.folder / "captures"))
            assert made.exit_code == 0, made.stderr
        yield world


def free_port() -> int:
    """A port of loopback that nobody listens on at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def seed() -> str:
    """What the random choices are made from; the environment may name another."""
    return os.environ.get("KGROUPS_ENDINGS_SEED", "1")


def random_for(*parts: object) -> random.Random:
    """Random numbers for a case, the same in every run with the same seed."""
    return random.Random(":".join(map(str, (seed(), *parts))))
