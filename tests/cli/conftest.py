"""Files that the command line reads in its tests."""

import shutil
from pathlib import Path

import pytest

from kgroups.cli.write_files import save_plan
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import cli_files, clusters


@pytest.fixture(scope="session")
def made_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of `files`; nobody writes there."""
    folder = tmp_path_factory.mktemp("files")
    write_snapshot(clusters.shop(), folder / "shop.json")
    save_plan(folder / "saved.json", "reset-offsets", (), cluster_id="shop", topic_ids={})
    write_snapshot(clusters.broken_shop(), folder / "broken.json")
    write_snapshot(clusters.nothing(), folder / "nothing.yaml")
    (folder / "torn.json").write_text('{\n "schema": "kgroups.snapshot/1",\n "items": [\n')
    (folder / "other.json").write_text('{"schema": "kgroups.list/1", "items": [], "topics": []}')
    (folder / "bad.properties").write_text("security.protocol=CARRIER_PIGEON\n")
    (folder / "scenario.yaml").write_text(cli_files.SCENARIO)
    (folder / "misspelt.yaml").write_text(cli_files.MISSPELT)
    (folder / "cyclic.yaml").write_text(cli_files.CYCLIC)
    (folder / "faulty.yaml").write_text(cli_files.FAULTY)
    simulation = cli_files.SIMULATION
    (folder / "deploy.yaml").write_text(simulation)
    (folder / "app.properties").write_text(
        "group.id=billing\nmax.poll.records=20\nclient.rack=b\n"
        "value.deserializer=com.shop.OrderDeserializer\nssl.keystore.password=secret\n"
    )
    (folder / "wrong.properties").write_text("max.poll.records=20\nmax.poll.interval=5\n")
    (folder / "mistyped.yaml").write_text(simulation.replace("rolling_restart", "roling_restart"))
    (folder / "own_assignors.py").write_text(cli_files.ASSIGNORS)
    return folder


@pytest.fixture
def files(made_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with snapshots, a scenario and a saved plan."""
    shutil.copytree(made_files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
