"""Every write of both grammars, guarded: it is refused with exit code 4, and nothing is sent."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from kgroups.cli.official.records import run_records
from kgroups.cli.official.run import run_groups
from kgroups.core.kafka.transport.messages import kafka_name
from kgroups.core.kafka.write_guard import WRITE_APIS
from tests.support.cli.runner import run
from tests.support.endings.lines import LINES
from tests.support.endings.world import Place, World

OTHER: Final = "another-cluster"
CONTEXTS: Final = """\
contexts:
  guarded:
    protected: true
  pinned:
    cluster_id: another-cluster
  right:
    protected: true
    cluster_id: {id}
"""
GUARDS: Final[Mapping[str, tuple[dict[str, str], str]]] = {
    "read only": ({"KGROUPS_READ_ONLY": "1"}, "KGROUPS_READ_ONLY is set"),
    "another cluster": (
        {"KGROUPS_EXPECT_CLUSTER_ID": OTHER},
        f"not `{OTHER}` as --expect-cluster-id expects",
    ),
    "a protected context": ({"KGROUPS_CONTEXT": "guarded"}, "context `guarded` is protected"),
    "unprotected by another name": (
        {"KGROUPS_CONTEXT": "guarded", "KGROUPS_UNPROTECTED": "pinned"},
        "--unprotected names `pinned`",
    ),
    "a pinned context": (
        {"KGROUPS_CONTEXT": "pinned"},
        f"not `{OTHER}` as context `pinned` expects",
    ),
}
"""Environments that forbid writes, and what is said then."""
WRITES: Final = [name for name, line in LINES.items() if line.writes]


@pytest.fixture(scope="module")
def cluster_id(world: World) -> str:
    """The id of the world's cluster."""
    return world.sandbox.cluster_id


def end(
    world: World,
    name: str,
    place: Place,
    env: Mapping[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *more: str,
) -> tuple[int, str]:
    """Exit code and stderr of a line in this process."""
    line = LINES[name]
    words = [*world.words(line, place, 60_000), *more]
    settings = {**world.settings(place), **env}
    if line.grammar == "own":
        outcome = run(*words, env=settings)
        return outcome.exit_code, outcome.stderr
    for variable in [each for each in os.environ if each.startswith("KGROUPS_")]:
        monkeypatch.delenv(variable)
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)
    if line.of.startswith("--"):
        code = run_groups(words)
    else:
        code = run_records(words[2:])
    return code, capsys.readouterr().err


def writes_seen(world: World) -> dict[str, int]:
    """How often each API that writes was asked."""
    names = set(map(kafka_name, WRITE_APIS))
    counts = world.sandbox.request_counts()
    return {api: sum(versions.values()) for api, versions in counts.items() if api in names}


def guarded_place(world: World, name: str, cluster_id: str) -> Place:
    """A place for a line, with contexts that guard."""
    place = world.place(LINES[name])
    (place.folder / "config.yaml").write_text(CONTEXTS.format(id=cluster_id))
    return place


@pytest.mark.share(3)
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("name", WRITES)
def test_refused(
    world: World,
    cluster_id: str,
    name: str,
    guard: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one sentence; no request that writes reaches the cluster, no undo file is made."""
    place = guarded_place(world, name, cluster_id)
    before, files = writes_seen(world), undo_files(place)
    env, said = GUARDS[guard]
    code, stderr = end(world, name, place, env, capsys, monkeypatch)
    assert (code, said in stderr) == (4, True), stderr
    assert stderr.count("rror: ") == 1
    assert writes_seen(world) == before
    assert world.state(place) == place.old
    assert undo_files(place) == files


@pytest.mark.share(3)
@pytest.mark.parametrize("name", WRITES)
def test_allowed(
    world: World,
    cluster_id: str,
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the cluster is the right one, and the protected context is named."""
    place = guarded_place(world, name, cluster_id)
    env = {
        "KGROUPS_READ_ONLY": "0",
        "KGROUPS_CONTEXT": "right",
        "KGROUPS_UNPROTECTED": "right",
        "KGROUPS_EXPECT_CLUSTER_ID": cluster_id,
    }
    code, stderr = end(world, name, place, env, capsys, monkeypatch)
    assert code == 0, stderr
    assert world.state(place) == place.new


OWN: Final = [name for name in WRITES if LINES[name].grammar == "own"]


@pytest.mark.parametrize("name", OWN)
def test_by_flags(
    world: World,
    cluster_id: str,
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A flag beats the environment; what every guard forbids may still be planned."""
    place = guarded_place(world, name, cluster_id)
    env = {"KGROUPS_CONTEXT": "right", "KGROUPS_UNPROTECTED": "right"}
    env["KGROUPS_EXPECT_CLUSTER_ID"] = cluster_id
    for more in (("--expect-cluster-id", OTHER), ("--unprotected", "pinned"), ("-c", "pinned")):
        code, stderr = end(world, name, place, env, capsys, monkeypatch, *more)
        assert code == 4, stderr
    env |= {"KGROUPS_READ_ONLY": "1", "KGROUPS_EXPECT_CLUSTER_ID": OTHER}
    before = writes_seen(world)
    code, stderr = end(world, name, place, env, capsys, monkeypatch, "--dry-run")
    assert code == 0, stderr
    assert writes_seen(world) == before
    assert world.state(place) == place.old


def undo_files(place: Place) -> set[Path]:
    """Every undo file of a place."""
    return set(place.folder.rglob("undo-*.json"))
