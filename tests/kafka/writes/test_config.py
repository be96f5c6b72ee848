"""`config` on the real broker: values and their sources, changes, undo, plans, and refusals."""

import json
from pathlib import Path

import pytest
from kio.schema.describe_configs.v4.request import DescribeConfigsRequest, DescribeConfigsResource
from kio.schema.describe_configs.v4.response import DescribeConfigsResponse
from kio.static.primitive import i8

from kgroups.core.offsets.group_settings import SETTINGS
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = pytest.mark.kafka

SESSION = "consumer.session.timeout.ms"
RESET = "share.auto.offset.reset"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of undo files and the audit log."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "kgroups"


def config(kafka: KafkaCluster, *args: str, **variables: str) -> Outcome:
    """The end of `kgroups config`, as JSON."""
    return run("-b", kafka.bootstrap, "config", *args, "-o", "json", env=variables)


def results(outcome: Outcome) -> dict[str, str]:
    """What became of each configuration."""
    return {row["setting"]: row["result"] for row in outcome.document["items"]}


def own(kafka: KafkaCluster, group: str) -> dict[str, str | None]:
    """The values that a group itself has, read by another hand than ours."""
    resource = DescribeConfigsResource(
        resource_type=i8(32), resource_name=group, configuration_keys=None
    )
    with WireConnection(kafka.address(), client_id="reader") as connection:
        answer = connection.ask(
            DescribeConfigsRequest(resources=(resource,)), DescribeConfigsResponse
        )
    return {row.name: row.value for row in answer.results[0].configs if row.config_source == 8}


def becomes(kafka: KafkaCluster, group: str, values: dict[str, str | None]) -> None:
    """Wait until a group has just these values: a broker answers before all brokers know them."""
    wait_until(lambda: own(kafka, group) == values, f"{group} has {values}")


def test_where_each_value_comes_from(kafka: KafkaCluster) -> None:
    """The group, the broker's file, Kafka's default; and what holds without the group."""
    assert config(kafka, "config-shown", "--set", f"{SESSION}=50000", "--yes").exit_code == 0
    outcome = config(kafka, "config-shown")
    rows = {row["setting"]: row for row in outcome.document["items"]}
    assert rows[SESSION] == {
        "group": "config-shown",
        "setting": SESSION,
        "value": "50000",
        "source": "group",
        "inherited_value": "45000",
        "inherited_from": "group.consumer.session.timeout.ms",
    }
    beats = rows["consumer.heartbeat.interval.ms"]
    assert (beats["value"], beats["source"], beats["inherited_value"]) == (
        "200",
        "static_broker",
        None,
    )
    assert (rows[RESET]["value"], rows[RESET]["source"]) == ("latest", "default")
    assert outcome.document["summary"] == {
        "type": None,
        "settings": len(rows),
        "set_on_group": 1,
    }
    assert [note["code"] for note in outcome.document["notes"]] == ["NO_SUCH_GROUP"]


def test_a_group_shows_what_its_type_uses(kafka: KafkaCluster) -> None:
    """A consumer group those of consumers; with --all, and where set on it, others too."""
    create_topics(kafka.bootstrap, {"config-t": 2})
    with LiveGroup(
        kafka.bootstrap, "config-typed", [MemberSpec("a", ("config-t",))], protocol="consumer"
    ) as live:
        live.wait_stable(2)
        shown = {row["setting"] for row in config(kafka, "config-typed").document["items"]}
        assert SESSION in shown
        assert {name.split(".")[0] for name in shown} == {"consumer"}
        every = {row["setting"] for row in config(kafka, "config-typed", "--all").document["items"]}
        assert every == set(SETTINGS)
        outcome = config(kafka, "config-typed", "--set", f"{RESET}=earliest", "--yes")
        assert outcome.document["items"][0]["note"] == "consumer groups do not use it"
        shown = {row["setting"] for row in config(kafka, "config-typed").document["items"]}
        assert RESET in shown
    commit_offsets(kafka.bootstrap, {"config-classic": {("config-t", 0): 0}})
    outcome = config(kafka, "config-classic")
    assert [note["code"] for note in outcome.document["notes"]] == ["NOT_USED"]


def test_change_and_undo(kafka: KafkaCluster, state: Path) -> None:
    """What is written stands in the broker; undo restores what was there, set or not."""
    name = "config-undone"
    becomes(kafka, name, {})
    line = (name, "--set", f"{SESSION}=50000", "--set", f"{RESET}=earliest")
    dry = config(kafka, *line, "--dry-run")
    assert (dry.exit_code, set(results(dry).values())) == (0, {"planned"})
    assert own(kafka, name) == {}
    asked = config(kafka, *line)
    assert asked.exit_code == 2
    assert own(kafka, name) == {}
    done = config(kafka, *line, "--yes", "--reason", "slow consumers")
    assert results(done) == {SESSION: "done", RESET: "done"}
    becomes(kafka, name, {SESSION: "50000", RESET: "earliest"})
    assert set(results(config(kafka, *line, "--yes")).values()) == {"skipped"}
    record = json.loads((state / "audit.jsonl").read_text().splitlines()[0])
    assert (record["reason"], record["results"]) == ("slow consumers", {"done": 2})

    undo = done.document["summary"]["undo_file"]
    later = config(kafka, name, "--set", f"{SESSION}=55000", "--unset", RESET, "--yes")
    assert later.document["items"][1]["note"] == "latest holds then"
    becomes(kafka, name, {SESSION: "55000"})
    moved = config(kafka, name, "--undo", undo, "--yes")
    assert (moved.exit_code, results(moved)) == (4, {SESSION: "refused", RESET: "skipped"})
    back = config(kafka, name, "--undo", "last", "--yes")
    assert results(back) == {SESSION: "done", RESET: "done"}
    becomes(kafka, name, {SESSION: "50000", RESET: "earliest"})
    assert results(config(kafka, name, "--undo", undo, "--yes")) == {SESSION: "done", RESET: "done"}
    becomes(kafka, name, {})
    assert config(kafka, "config-other", "--undo", undo).exit_code == 5
    wrong = run("-b", kafka.bootstrap, "reset-offsets", "--undo", undo, "--yes")
    assert wrong.exit_code == 2
    assert "undo file of group configurations" in wrong.stderr


def test_saved_plan(kafka: KafkaCluster, tmp_path: Path) -> None:
    """A plan is applied as it was reviewed; what was changed since is refused, or accepted."""
    name, file = "config-planned", str(tmp_path / "plan.json")
    line = (name, "--set", f"{SESSION}=50000")
    assert config(kafka, *line, "--dry-run", "--plan", file).exit_code == 0
    config(kafka, name, "--set", f"{SESSION}=40000", "--yes")
    apply = ("-b", kafka.bootstrap, "apply", file, "--yes", "-o", "json")
    drifted = run(*apply)
    assert (drifted.exit_code, results(drifted)) == (4, {SESSION: "refused"})
    assert "was unset when the plan was saved" in drifted.stderr
    assert results(run(*apply, "--drift", "accept")) == {SESSION: "done"}
    becomes(kafka, name, {SESSION: "50000"})
    assert results(run(*apply)) == {SESSION: "skipped"}


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("--set", f"{SESSION}=50000", "--set", f"{RESET}=sometimes"), 1, "sometimes"),
        (("--set", "consumer.sesion.timeout.ms=1"), 5, f"did you mean `{SESSION}`?"),
        (("--unset", SESSION, "--set", f"{SESSION}=1"), 2, "named twice"),
    ],
    ids=["a value that the broker does not take", "a misspelt name", "a name twice"],
)
def test_refused_as_a_whole(
    kafka: KafkaCluster, args: tuple[str, ...], code: int, text: str
) -> None:
    """One that cannot be set holds the others back."""
    outcome = config(kafka, "config-refused", *args, "--yes")
    assert outcome.exit_code == code
    assert text in outcome.stderr
    assert own(kafka, "config-refused") == {}


def test_protected(kafka: KafkaCluster) -> None:
    """Where nothing may be written a change is refused, and its preview is not."""
    line = ("config-guarded", "--set", f"{SESSION}=50000")
    assert config(kafka, *line, "--yes", KGROUPS_READ_ONLY="1").exit_code == 4
    assert config(kafka, *line, "--dry-run", KGROUPS_READ_ONLY="1").exit_code == 0
    assert own(kafka, "config-guarded") == {}


@pytest.mark.slow("a broker of 3.3; of refusals: tests/kafka/writes/test_config.py")
def test_brokers_without_group_configurations() -> None:
    """One sentence says which release has them."""
    with KafkaCluster(ClusterSpec(release="3.3")) as old:
        for more in ((), ("--set", f"{SESSION}=50000", "--yes")):
            outcome = config(old, "g", *more)
            assert outcome.exit_code == 1
            assert "the brokers have no group configurations" in outcome.stderr
