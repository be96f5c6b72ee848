"""`kgroups ping` of a cluster without logins, and of clusters that cannot be reached."""

import socket
from collections.abc import Iterator

import pytest

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_rules import Fault
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster

STEPS = (
    "name resolution",
    "TCP",
    "TLS",
    "login",
    "API versions",
    "brokers",
    "groups",
    "topics",
    "read",
    "clock",
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """An embedded cluster of one broker."""
    with Sandbox(brokers=1) as made:
        yield made


def ping(address: str, *more: str) -> Outcome:
    """The steps as JSON."""
    return run("ping", "-b", address, "--timeout", "60s", "-o", "json", *more)


def statuses(outcome: Outcome) -> dict[str, str]:
    """The status of each step."""
    return {item["step"]: item["status"] for item in outcome.document["items"]}


@pytest.mark.kafka
def test_every_step(kafka: KafkaCluster) -> None:
    """In this order; the clock is that of this machine."""
    outcome = ping(kafka.bootstrap)
    assert outcome.exit_code == 0, outcome
    found = statuses(outcome)
    assert tuple(found) == STEPS
    skipped = {step for step, status in found.items() if status != "ok"}
    assert skipped - {"read"} == {"TLS", "login"}  # nobody may have committed yet
    assert outcome.document["cluster"]["id"] is not None
    clock = outcome.document["items"][-1]
    assert abs(clock["clock_ahead_seconds"]) < 60
    assert outcome.document["summary"]["failed"] == 0


def test_on_the_embedded_cluster(sandbox: Sandbox) -> None:
    """Which does not tell its time."""
    outcome = ping(sandbox.bootstrap_servers)
    assert outcome.exit_code == 0, outcome
    found = statuses(outcome)
    assert tuple(found) == STEPS
    assert {step for step, status in found.items() if status == "skipped"} == {
        "TLS",
        "login",
        "clock",
    }
    table = run("ping", "-b", sandbox.bootstrap_servers)
    assert [line.split("  ")[0] for line in table.stdout.splitlines()[1:]] == list(STEPS)


def test_a_name_that_is_not_known(sandbox: Sandbox) -> None:
    """It is the first failure; beside a server that is there, a warning with its remedy."""
    alone = ping("no-such-host.invalid:9092")
    assert (alone.exit_code, statuses(alone)) == (3, {"name resolution": "failed"})
    assert "`no-such-host.invalid` cannot be resolved" in alone.document["errors"][0]["message"]
    beside = ping(f"no-such-host.invalid:9092,{sandbox.bootstrap_servers}")
    assert (beside.exit_code, beside.document["summary"]["warning"]) == (0, 1)
    assert "note: name resolution: check the spelling" in beside.stderr


def test_a_port_where_nobody_listens() -> None:
    """TCP fails; what comes behind it is not tried."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    outcome = ping(f"127.0.0.1:{port}")
    assert outcome.exit_code == 3
    assert statuses(outcome) == {"name resolution": "ok", "TCP": "failed"}
    (error,) = outcome.document["errors"]
    assert (error["target"], error["hint"]) == (
        "TCP",
        "check the port, and that the broker is running",
    )


def test_a_port_where_nobody_answers() -> None:
    """The time is over at the first request."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        outcome = ping(f"127.0.0.1:{server.getsockname()[1]}", "--timeout", "300ms")
    assert outcome.exit_code == 3
    assert statuses(outcome)["API versions"] == "failed"


@pytest.mark.parametrize(
    ("api", "code", "step", "status", "remedy"),
    [
        (Api.LIST_GROUPS, 31, "groups", "failed", "grant DESCRIBE"),
        (Api.FETCH, 29, "read", "warning", "grant READ on topic __consumer_offsets"),
        (Api.LIST_OFFSETS, 29, "read", "warning", "grant READ on topic __consumer_offsets"),
    ],
)
def test_what_may_not_be_done(
    sandbox: Sandbox, api: Api, code: int, step: str, status: str, remedy: str
) -> None:
    """A right that few commands need is a warning; groups that cannot be listed are a failure."""
    sandbox.add_fault(Fault(api=api, action=code, times=None))
    try:
        outcome = ping(sandbox.bootstrap_servers)
    finally:
        sandbox.clear_faults()
    assert statuses(outcome)[step] == status, outcome
    assert outcome.exit_code == (3 if status == "failed" else 0)
    item = next(each for each in outcome.document["items"] if each["step"] == step)
    assert remedy in item["hint"]


def test_usage() -> None:
    """No address, and an address that is none."""
    assert run("ping").exit_code == 2
    assert run("ping", "-b", "localhost:notaport").exit_code == 2
