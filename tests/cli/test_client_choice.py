"""Which library asks the cluster: by option, environment and context; what is missing is told."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.writes.member_removal import remove_members
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import Member
from tests.support.cli.runner import run
from tests.support.kafka.workload import commit_offsets

NOTE = (
    "note: using librdkafka (as requested): slower, and subscriptions, epochs, share and streams "
    "groups are not shown\n"
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """An embedded cluster."""
    with Sandbox(topics={"t": 1}) as made:
        yield made.bootstrap_servers


CHOICES: Mapping[str, tuple[tuple[str, ...], Mapping[str, str], str]] = {
    "an option": (("--client", "librdkafka"), {}, NOTE),
    "the environment": ((), {"KGROUPS_CLIENT": "LIBRDKAFKA"}, NOTE),
    "a context": (("-c", "there"), {}, NOTE),
    "an option before a context": (("-c", "there", "--client", "auto"), {}, ""),
    "nothing": ((), {}, ""),
    "quiet": (("--client", "librdkafka", "--quiet"), {}, ""),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_choices(
    address: str, tmp_path: Path, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster is asked through librdkafka, and a note says so once."""
    monkeypatch.setattr("kgroups.cli.exits._NOTED", set())  # as in a process of its own
    words, variables, said = CHOICES[choice]
    config = tmp_path / "config.yaml"
    config.write_text("contexts:\n  there:\n    client: librdkafka\n")
    env = {"KGROUPS_CONFIG": str(config), **variables}
    outcome = run("list", "-b", address, *words, "-o", "csv", env=env)
    nothing = "" if "--quiet" in words else "note: there are no groups\n"
    assert (outcome.exit_code, outcome.stderr) == (0, said + nothing)
    assert outcome.stdout.startswith("group,")


def test_no_such_client(tmp_path: Path) -> None:
    """The two that there are, with the place of a context that names another one."""
    outcome = run("list", "--client", "java")
    hint = "hint: one of auto, librdkafka\n"
    assert (outcome.exit_code, outcome.stderr) == (2, f"error: `java` is not a client\n\n{hint}")
    config = tmp_path / "config.yaml"
    config.write_text("contexts:\n  there:\n    client: java\n")
    outcome = run("list", "-c", "there", env={"KGROUPS_CONFIG": str(config)})
    assert outcome.exit_code == 2
    assert f"`{config}`, line 3, `contexts.there.client`" in outcome.stderr
    assert outcome.stderr.endswith(hint)


def test_what_librdkafka_cannot_do(address: str) -> None:
    """Said as such, and not done by another way."""
    settings = ClientSettings(address, through_librdkafka=True)
    with ClusterAdmin(settings) as admin, pytest.raises(KgroupsError) as caught:
        remove_members(admin, "g", [Member("m", "c", "/h")], "because")
    assert caught.value.code == "UNSUPPORTED_VERSION"
    assert "not supported through librdkafka (as requested)" in caught.value.message
    assert "`--client auto`" in (caught.value.hint or "")


def test_what_reads_records_as_they_are_stored() -> None:
    """Not through librdkafka, and who does it is said."""
    with Sandbox(topics={"t": 1}) as made:
        address = made.bootstrap_servers
        commit_offsets(address, {"g": {("t", 0): 0}})
        for line in ("peek g", "describe g --at 0s", "transactions g", "history g"):
            outcome = run(*line.split(), "--client", "librdkafka", "-b", address)
            assert outcome.exit_code == 1, outcome
            assert "error: not supported through librdkafka (as requested)" in outcome.stderr
            assert "hint: kgroups' own client does it: `--client auto`" in outcome.stderr
