"""Official writes that are carried out while every answer is lost: what the cluster shows is told.

Our own commands likewise: `tests/kafka/writes/test_unknown_outcomes.py`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.endings.held import check_words, check_writes
from tests.support.endings.lines import LINES
from tests.support.endings.program import run_program
from tests.support.endings.world import PARTITIONS, TOPIC, World, filled
from tests.support.hostile.tampering import TamperingProxy, lose

LONG_MS: Final = 6_000
"""Of which two thirds are for writing again and again."""

# Of one group: the proxy passes on a request when the one before it is answered.
RESET: Final = "--reset-offsets --group {group} --all-topics --to-earliest --execute"

# The answer that is lost, and what is said when the write is seen.
WRITES: Final = {
    "--reset-offsets": ("offset_commit", "NEW-OFFSET"),
    "--delete-offsets": (
        "offset_delete",
        "Request succeeded for deleting offsets from group ",
    ),
    "--delete": ("delete_groups", "Deletion of requested consumer groups ("),
    "official delete-records": ("delete_records", "low_watermark: 5"),
}


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world of one broker, before which a proxy can stand."""
    folder = tmp_path_factory.mktemp("world")
    with (
        Sandbox(brokers=1, topics={TOPIC: PARTITIONS}) as sandbox,
        filled(World(sandbox.bootstrap_servers, folder, sandbox=sandbox)) as made,
    ):
        yield made


@pytest.mark.parametrize("name", WRITES)
def test_the_answer_is_lost(single: World, name: str) -> None:
    """No signal, no answer: exit 0, and the words of success."""
    api, words = WRITES[name]
    line = replace(LINES[name], words=RESET) if name == "--reset-offsets" else LINES[name]
    place = single.place(line)
    with TamperingProxy(single.address, {api: lose}) as proxy:
        ending = run_program(
            single.words(line, place, LONG_MS, proxy.address),
            place.folder,
            env=single.environment(place),
        )
    assert api in proxy.seen
    check_words(ending, place)
    check_writes(single, line, place, ending)
    assert single.state(place) == place.new
    assert ending.code == 0, ending
    assert words in ending.all_said, ending
    assert "rror: " not in ending.all_said, ending
