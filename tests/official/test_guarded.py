"""Both tools before ACLs and logins: what is hidden, and what is said of it."""

from pathlib import Path

import pytest

from tests.official.test_differential import Compared, both_tools, check
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.guarded import CLOSED, LIVE, OLD, OPEN, Way, write_properties
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.settings import write_properties_file
from tests.support.official.lines import Line
from tests.support.official.running import run_ours
from tests.support.own_waiting import OwnWaiting

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("both tools before ACLs; without: tests/official/test_on_sandbox.py"),
]

_START = "--bootstrap-server {b} --command-config {f}/alice.properties "
_OWN = {"mine-own": {(OPEN, 0): 3, (OPEN, 1): 4, (CLOSED, 0): 2}}
_RESET = _START + "--reset-offsets --to-latest "
LINES = (
    Line(_START + "--list --state"),
    Line(_START + "--describe --group mine-a --group mine-b"),
    Line(_START + f"--describe --group {OLD} --members --verbose"),
    Line(_START + "--describe --group theirs-a"),
    Line(_START + "--describe --group mine-a --group theirs-a --state", unknown=("theirs-a",)),
    Line(_START + f"--describe --group mine-a --group {LIVE}", unknown=(LIVE,)),
    Line(_START + "--describe --group seen-a --group seen-nobody", unknown=("seen-nobody",)),
    Line(_RESET + f"--group theirs-a --topic {OPEN} --execute"),
    Line(
        _RESET + f"--group mine-own --group theirs-a --topic {OPEN}:0 --dry-run",
        unknown=("theirs-a",),
        offsets=_OWN,
    ),
    Line(_RESET + f"--group mine-own --topic {CLOSED} --dry-run", offsets=_OWN),
    Line(_RESET + f"--group mine-own --topic {CLOSED}:0 --dry-run", offsets=_OWN),
    Line(_RESET + "--group mine-own --all-topics --execute", offsets=_OWN),
    Line(_RESET + f"--group seen-a --topic {OPEN}:0 --execute"),
    Line(_START + f"--delete-offsets --group mine-own --topic {CLOSED}", offsets=_OWN),
    Line(
        _START + f"--delete-offsets --group mine-own --topic {CLOSED}:0 --topic {OPEN}:1",
        offsets=_OWN,
    ),
    Line(_START + f"--delete-offsets --group theirs-a --topic {OPEN}:0"),
    Line(_START + f"--delete-offsets --group seen-a --topic {OPEN}:0"),
    Line(_START + "--delete --group theirs-a --group mine-nobody"),
    Line(_START + "--delete --group seen-a"),
    Line(_START + "--offset-json-file {f}/records.json", "delete-records"),
)
RECORDS = (
    f'{{"partitions": [{{"topic": "{OPEN}", "partition": 0, "offset": 0}},'
    f' {{"topic": "{CLOSED}", "partition": 0, "offset": 0}}]}}'
)


@pytest.fixture(scope="module")
def told(
    guarded_kafka: KafkaCluster, official: WarmTools, tmp_path_factory: pytest.TempPathFactory
) -> Compared:
    """Both answers to every line, as `alice`."""
    folder = tmp_path_factory.mktemp("guarded")
    settings = guarded_kafka.java_settings("SASL_SSL", mechanism="SCRAM-SHA-512")
    login = {name: value for name, value in settings.items() if "key" not in name}
    write_properties_file(folder / "alice.properties", login)
    address = guarded_kafka.addresses("SASL_SSL")
    ask_both = both_tools(official, guarded_kafka.bootstrap, folder, address=address)
    (folder / "records.json").write_text(RECORDS)
    return {line.name: ask_both(line) for line in LINES}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_line(told: Compared, line: Line) -> None:
    """The words for what is hidden are the official tool's; the rest is shown and done."""
    check(told[line.name])


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_login_with_scram(guarded_kafka: KafkaCluster, tmp_path: Path, protocol: str) -> None:
    """A wrong password fails before the timeout, in list and describe; the right one gets in."""
    group = OLD if protocol == "classic" else LIVE
    address = ("--bootstrap-server", guarded_kafka.addresses("SASL_SSL"))
    way: Way = ("SASL_SSL", "SCRAM-SHA-512", "admin")
    bad = write_properties(guarded_kafka, tmp_path / "bad", way, password="wr0ng")
    good = write_properties(guarded_kafka, tmp_path / "good", way)
    for action in (["--list"], ["--describe", "--group", group]):
        with OwnWaiting() as waiting:
            refused = run_ours([*address, *bad, *action, "--timeout", "300000"])
        assert waiting.seconds < 60
        assert (refused.status, refused.stdout) == (1, "")
        assert "SaslAuthenticationException" in refused.stderr
    assert group in run_ours([*address, *good, "--list"]).stdout.splitlines()
    described = run_ours([*address, *good, "--describe", "--group", group])
    assert (described.status, described.stderr) == (0, "")
    assert described.stdout.count(group) == (2 if protocol == "classic" else 1)


@pytest.mark.parametrize("user", ["alice", "bob"])
def test_describe_needs_describe_on_the_group(
    guarded_kafka: KafkaCluster, tmp_path: Path, user: str
) -> None:
    """It suffices to be told that a group is not there; of a hidden one not even that is told."""
    address = ("--bootstrap-server", guarded_kafka.addresses("SASL_SSL"))
    way = write_properties(guarded_kafka, tmp_path / user, ("SASL_SSL", "PLAIN", user))
    told = run_ours([*address, *way, "--describe", "--group", "seen-nobody"])
    assert (told.status, told.stdout) == (1, "")
    assert "GroupIdNotFoundException: Group seen-nobody not found." in told.stderr
    told = run_ours([*address, *way, "--describe", "--group", "theirs-nobody"])
    assert "GroupAuthorizationException" in told.stderr
    assert "not found" not in told.stderr


@pytest.mark.parametrize("group", [OLD, LIVE])
@pytest.mark.parametrize("listener", ["PLAINTEXT", "SASL_SSL"])
def test_list_and_describe(
    guarded_kafka: KafkaCluster, tmp_path: Path, listener: str, group: str
) -> None:
    """The system tests of both protocols, in plain and through TLS."""
    start: tuple[str, ...] = ("--bootstrap-server", guarded_kafka.bootstrap)
    if listener != "PLAINTEXT":
        way = write_properties(guarded_kafka, tmp_path / "admin", ("SASL_SSL", "PLAIN", "admin"))
        start = ("--bootstrap-server", guarded_kafka.addresses("SASL_SSL"), *way)
    assert group in run_ours([*start, "--list"]).stdout.splitlines()
    rows = run_ours([*start, "--describe", "--group", group]).stdout.splitlines()
    topics = {row.split()[1] for row in rows if row.startswith(group)}
    assert topics == {OPEN if group == OLD else CLOSED}
