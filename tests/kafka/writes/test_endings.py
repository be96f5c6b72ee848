"""Writes on a real broker, with odd streams, signals at random moments and a wrong password."""

from collections.abc import Iterator

import pytest

from tests.support.endings.choice import cases, share, times
from tests.support.endings.held import check_words, check_writes
from tests.support.endings.lines import LINES
from tests.support.endings.program import run_program
from tests.support.endings.signals import NUMBERS, hold_at_a_moment
from tests.support.endings.streams import STREAMS, hold_streams
from tests.support.endings.world import SECRET, World, real_world
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.settings import write_properties_file

pytestmark = [
    pytest.mark.slow(
        "the same on a real broker; on embedded ones: tests/cli/endings/test_signals.py"
    ),
]

WRITES = [name for name, line in LINES.items() if line.writes]
ODD = share([(name, condition) for name in WRITES for condition in STREAMS], each=1, least=1)
TOLD = share([(name, number) for name in WRITES for number in NUMBERS], each=1)


@pytest.fixture(scope="module")
def world(secure_kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A real cluster and files."""
    folder = tmp_path_factory.mktemp("world")
    with real_world(folder, secure_kafka.bootstrap, "endings-") as made:
        yield made


@pytest.mark.share(4)
@pytest.mark.parametrize(("name", "condition"), cases(ODD))
def test_streams(world: World, name: str, condition: str) -> None:
    """The work is done, whoever reads of it."""
    hold_streams(world, name, condition)


@pytest.mark.share(4)
@pytest.mark.parametrize(("name", "number"), cases(TOLD))
def test_at_a_moment(world: World, name: str, number: str) -> None:
    """Nothing is lost, nothing claimed."""
    for time in times(name):
        hold_at_a_moment(world, name, number, time)


@pytest.mark.share(4)
@pytest.mark.parametrize("name", WRITES)
def test_a_wrong_password(world: World, secure_kafka: KafkaCluster, name: str) -> None:
    """One failure, and everything is as it was."""
    line, place = LINES[name], world.place(LINES[name])
    login = secure_kafka.librdkafka_settings("SASL_PLAINTEXT", password=SECRET)
    write_properties_file(place.folder / "client.properties", login)
    words = world.words(line, place, 60_000, login["bootstrap.servers"])
    ending = run_program(words, place.folder, env=world.environment(place))
    check_words(ending, place)
    check_writes(world, line, place, ending)
    assert ending.code == (3 if line.grammar == "own" else 1), ending
    assert "the login of" in ending.said or "SaslAuth" in ending.said, ending
    assert world.state(place) == place.old
