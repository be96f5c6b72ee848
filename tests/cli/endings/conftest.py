"""The world that the endings share."""

from collections.abc import Iterator

import pytest

from tests.support.endings.world import World
from tests.support.endings.world import world as make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An embedded cluster and files."""
    with make_world(tmp_path_factory.mktemp("world")) as made:
        yield made
