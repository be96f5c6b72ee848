"""`lag history` of somebody who may not read `__consumer_offsets`."""

from pathlib import Path

import pytest

from tests.support.cli.process import finish
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.settings import write_properties_file

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("Spark before ACLs; other commands: tests/kafka/reads/test_acls.py"),
]


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
