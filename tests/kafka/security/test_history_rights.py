"""`history` and `lag history` of somebody who may not read `__consumer_offsets`."""

from pathlib import Path

import pytest

from tests.support.cli.process import finish
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.guarded import OLD, WAYS, write_properties
from tests.support.kafka.settings import write_properties_file

pytestmark = pytest.mark.kafka


def test_without_the_right_to_read(guarded_kafka: KafkaCluster, tmp_path: Path) -> None:
    """Exit code 3, and the topic is named."""
    way = WAYS[0]
    config = write_properties(guarded_kafka, tmp_path / "c.properties", way)
    denied = run("-b", guarded_kafka.addresses(way[0]), *config, "history", OLD)
    assert denied.exit_code == 3, denied
    assert "not authorized to read `__consumer_offsets`" in denied.stderr


@pytest.mark.slow("Spark before ACLs; `history` is in every run")
def test_no_right_to_read_the_offsets_topic(guarded_kafka: KafkaCluster, tmp_path: Path) -> None:
    """One sentence with the topic, and where else to look, before Spark is started."""
    settings = guarded_kafka.java_settings("SASL_PLAINTEXT", user="alice")
    path = write_properties_file(tmp_path / "alice.properties", settings)
    code, stdout, stderr = finish(
        *("lag", "history", "-b", guarded_kafka.addresses("SASL_PLAINTEXT")),
        *("--command-config", str(path), "--timeout", "10s"),
    )
    assert (code, stdout) == (3, "")
    assert "not authorized to read `__consumer_offsets`" in stderr
    assert "kgroups lag collect" in stderr
    assert "Traceback" not in stderr
