"""Files that the command line reads in its tests."""

from pathlib import Path

import pytest

from kgroups.cli.write_files import save_plan
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import cli_files, clusters


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with snapshots, a scenario and a saved plan."""
    write_snapshot(clusters.shop(), tmp_path / "shop.json")
    save_plan(tmp_path / "saved.json", "reset-offsets", (), cluster_id="shop", topic_ids={})
    write_snapshot(clusters.broken_shop(), tmp_path / "broken.json")
    write_snapshot(clusters.nothing(), tmp_path / "nothing.yaml")
    (tmp_path / "torn.json").write_text('{\n "schema": "kgroups.snapshot/1",\n "items": [\n')
    (tmp_path / "other.json").write_text('{"schema": "kgroups.list/1", "items": [], "topics": []}')
    (tmp_path / "bad.properties").write_text("security.protocol=CARRIER_PIGEON\n")
    (tmp_path / "scenario.yaml").write_text(cli_files.SCENARIO)
    (tmp_path / "misspelt.yaml").write_text(cli_files.MISSPELT)
    (tmp_path / "cyclic.yaml").write_text(cli_files.CYCLIC)
    (tmp_path / "faulty.yaml").write_text(cli_files.FAULTY)
    simulation = cli_files.SIMULATION
    (tmp_path / "deploy.yaml").write_text(simulation)
    (tmp_path / "app.properties").write_text(
        "group.id=billing\nmax.poll.records=20\nclient.rack=b\n"
        "value.deserializer=com.shop.OrderDeserializer\nssl.keystore.password=secret\n"
    )
    (tmp_path / "wrong.properties").write_text("max.poll.records=20\nmax.poll.interval=5\n")
    (tmp_path / "mistyped.yaml").write_text(simulation.replace("rolling_restart", "roling_restart"))
    (tmp_path / "own_assignors.py").write_text(cli_files.ASSIGNORS)
    monkeypatch.chdir(tmp_path)
    return tmp_path
