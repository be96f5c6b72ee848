"""The world that both tools look at, once for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kafka.broker import KafkaCluster
from tests.support.official.official_world import world


@pytest.fixture(scope="package", autouse=True)
def undo_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where resets of this folder leave what they replace."""
    folder = tmp_path_factory.mktemp("undo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGROUPS_UNDO_DIR", str(folder))
        yield folder


@pytest.fixture(scope="package")
def full() -> Iterator[KafkaCluster]:
    """A broker with groups of every kind and state."""
    with world() as cluster:
        yield cluster
