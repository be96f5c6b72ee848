"""`kgroups ping` through TLS and logins: each step that can fail there, and rights."""

from pathlib import Path

import pytest

from tests.kafka.reads.test_ping import STEPS, statuses
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.guarded import WAYS, Way, write_properties
from tests.support.kafka.settings import write_properties_file

pytestmark = pytest.mark.kafka


def ping(cluster: KafkaCluster, folder: Path, listener: str, **changes: str | None) -> Outcome:
    """The steps through one listener, with other properties than those that get in."""
    settings = cluster.librdkafka_settings(listener)  # type: ignore[arg-type]
    file = write_properties_file(folder / "client.properties", {**settings, **changes})
    return run("ping", "--command-config", str(file), "--timeout", "60s", "-o", "json")


def last(outcome: Outcome) -> dict[str, object]:
    """The step at which it ended."""
    found: dict[str, object] = outcome.document["items"][-1]
    return found


@pytest.mark.parametrize("way", WAYS, ids=[" ".join(way).strip() for way in WAYS])
def test_every_way_in(guarded_kafka: KafkaCluster, tmp_path: Path, way: Way) -> None:
    """All steps but those that the protocol does not have; rights that are missing are told."""
    config = write_properties(guarded_kafka, tmp_path / "client.properties", way)
    outcome = run("ping", *config, "--timeout", "60s", "-o", "json")
    assert outcome.exit_code == 0, outcome
    found = statuses(outcome)
    assert tuple(found) == STEPS
    assert (found["login"] == "ok") == way[0].startswith("SASL")
    assert found["read"] == "warning"
    if way[0].endswith("SSL"):
        tls = next(item for item in outcome.document["items"] if item["step"] == "TLS")
        assert tls["status"] == ("ok" if tls["days_left"] >= 30 else "warning")
        assert bool(tls["hint"]) == (tls["status"] == "warning")
        assert "issued by" in tls["detail"]


@pytest.mark.slow("a second broker with logins")
@pytest.mark.parametrize(
    ("listener", "changes", "step", "said"),
    [
        ("SASL_PLAINTEXT", {"sasl.password": "wrong"}, "login", "the login of `alice`"),
        ("SASL_SSL", {"sasl.password": "wrong"}, "login", "the login of `alice`"),
        ("SASL_SSL", {"ssl.ca.location": None}, "TLS", "not trusted"),
        ("SASL_SSL", {"security.protocol": "SASL_PLAINTEXT"}, "API versions", "TLS"),
        ("SASL_PLAINTEXT", {"security.protocol": "SASL_SSL"}, "TLS", "does not speak TLS"),
        ("SASL_PLAINTEXT", {"sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "nobody"},
         "login", "the login of `nobody`"),
    ],
)  # fmt: skip
def test_what_fails(
    secure_kafka: KafkaCluster,
    tmp_path: Path,
    listener: str,
    changes: dict[str, str | None],
    step: str,
    said: str,
) -> None:
    """Exit code 3 at the step that it is about, with its remedy."""
    outcome = ping(secure_kafka, tmp_path, listener, **changes)
    assert outcome.exit_code == 3, outcome
    ended = last(outcome)
    assert (ended["step"], ended["status"]) == (step, "failed"), outcome
    assert said in str(ended["detail"])
    assert ended["hint"]
    assert outcome.document["summary"]["failed"] == 1


@pytest.mark.slow("a second broker with logins")
def test_unverified(secure_kafka: KafkaCluster, tmp_path: Path) -> None:
    """A certificate that nobody checks is a warning."""
    changes = {"ssl.ca.location": None, "enable.ssl.certificate.verification": "false"}
    outcome = ping(secure_kafka, tmp_path, "SASL_SSL", **changes)
    assert outcome.exit_code == 0, outcome
    assert statuses(outcome)["TLS"] == "warning"


def test_through_librdkafka(guarded_kafka: KafkaCluster, tmp_path: Path) -> None:
    """librdkafka logs in, and some steps are left out."""
    config = write_properties(guarded_kafka, tmp_path / "client.properties", ("SSL", "", ""))
    outcome = run("ping", *config, "--client", "librdkafka", "--timeout", "60s", "-o", "json")
    assert outcome.exit_code == 0, outcome
    found = statuses(outcome)
    assert (found["login"], found["groups"] != "failed", found["clock"]) == ("ok", True, "skipped")
