"""`check` and `wait` on a cluster with live groups."""

import json
import re

import pytest

from tests.support.cli.process import start
from tests.support.cli.runner import run
from tests.support.kafka.child import WAIT_S, Child
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.workload import commit_offsets, create_topics, delete_topics, produce

pytestmark = pytest.mark.kafka

TOPIC = "gate-t"
LONG = ("--timeout", "60s")


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A topic with records."""
    create_topics(cluster_address, {TOPIC: 2})
    produce(cluster_address, {(TOPIC, 0): 50, (TOPIC, 1): 30})
    return cluster_address


def commit(address: str, group: str, *offsets: int) -> None:
    """Commit for the partitions from the first on."""
    commit_offsets(address, {group: {(TOPIC, n): offset for n, offset in enumerate(offsets)}})


def told(process: Child, pattern: str) -> str:
    """The next line on stderr that fits."""
    return process.line_that(lambda line: re.search(pattern, line), stream="stderr")


def end(process: Child) -> tuple[int, str]:
    """Exit code and stdout."""
    stdout, _ = process.communicate(timeout=WAIT_S)
    return process.returncode, stdout


def test_check(address: str) -> None:
    """Lag and members of groups as they are now."""
    commit(address, "gate-a", 50, 10)
    commit(address, "gate-b", 50, 30)
    at = ("-b", address, *LONG)
    words = ("check", "gate-a", "gate-b", "--fail-on", "lag > 19 and state = 'Empty'")
    outcome = run(*at, *words, "-o", "json")
    assert outcome.exit_code == 6, outcome.stderr
    verdicts = {item["group"]: item["verdict"] for item in outcome.document["items"]}
    assert verdicts == {"gate-a": "failed", "gate-b": "ok"}
    assert run(*at, "check", "gate-[ab]", "--fail-on", "lag > 20").exit_code == 0
    assert run(*at, "check", "gate-nobody", "--fail-on", "lag > 0").exit_code == 5
    assert run(*at, "check", "gate-a", "gate-nobody", "--fail-on", "lag > 0").exit_code == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_check_live_members(address: str, protocol: str) -> None:
    """A group with members, of either protocol."""
    name = f"gate-live-{protocol}"
    members = [MemberSpec("one", (TOPIC,)), MemberSpec("two", (TOPIC,))]
    with LiveGroup(address, name, members, protocol=protocol) as live:  # type: ignore[arg-type]
        live.wait_stable(2)
        at = ("-b", address, *LONG, "check", name, "--fail-on")
        stable = f"state != 'Stable' or member_count != 2 or type != '{protocol}'"
        assert run(*at, stable).exit_code == 0
        assert run(*at, "member_count < 3").exit_code == 6
        assert run(*at, "lag > 1000").exit_code == 6, "nothing is committed: unknown"
        assert run(*at, "lag > 1000", "--uncommitted", "start").exit_code == 0


def test_held_no_longer(address: str) -> None:
    """`--for` ends well, and early, as soon as the condition does not hold."""
    commit(address, "gate-for", 0, 0)
    line = ("check", "gate-for", "--fail-on", "lag > 70", "--for", "6h", "-o", "json")
    with start(*line, "-b", address, *LONG) as process:
        commit(address, "gate-for", 50, 30)
        code, stdout = end(process)
    assert code == 0, stdout
    assert json.loads(stdout)["summary"]["ok"] == 1


def test_wait_until_caught_up(address: str) -> None:
    """It tells what it waits for, each change, and comes back at once when it is there."""
    commit(address, "gate-wait", 0, 30)
    line = ("wait", "gate-wait", "--until", "caught-up", "--deadline", "6h", "-o", "json")
    with start(*line, "-b", address, *LONG) as process:
        told(process, r"note: `gate-wait`: waiting for `partitions > 0 and lag = 0`: .*lag is 50")
        commit(address, "gate-wait", 20)
        told(process, "lag is 30")
        commit(address, "gate-wait", 50)
        told(process, "`partitions > 0 and lag = 0` holds")
        code, stdout = end(process)
    assert code == 0
    document = json.loads(stdout)
    assert document["items"][0]["holds"] is True
    assert document["summary"]["reached"] == 1


def test_wait_for_a_group_that_comes(address: str) -> None:
    """It need not be there at first."""
    line = ("wait", "gate-comes", "--until", "partitions > 0", "--deadline", "6h")
    with start(*line, "-b", address, *LONG) as process:
        told(process, "no such group")
        commit(address, "gate-comes", 0, 0)
        code, stdout = end(process)
    assert (code, stdout.split()[-5:]) == (0, ["gate-comes", "yes", "partitions", "is", "2"])


def test_wait_until_empty(address: str) -> None:
    """Until the last member has left."""
    with LiveGroup(address, "gate-empty", [MemberSpec("one", (TOPIC,))]) as live:
        live.wait_stable(2)
        at = ("-b", address, *LONG)
        assert run(*at, "wait", "gate-empty", "--until", "stable").exit_code == 0
        assert run(*at, "wait", "gate-empty", "--until", "member_count=1").exit_code == 0
        line = ("wait", "gate-empty", "--until", "empty", "--deadline", "6h")
        with start(*line, *at) as process:
            told(process, "waiting for `state = 'Empty'`: state is Stable")
            live.close()
            assert end(process)[0] == 0


def test_it_must_stay_so(address: str) -> None:
    """`--stable`: the time is told, and what it was at the end."""
    commit(address, "gate-stable", 50, 30)
    line = ("wait", "gate-stable", "--until", "lag = 0", "--stable", "1s", "-o", "json")
    outcome = run("-b", address, *LONG, *line)
    (item,) = outcome.document["items"]
    assert outcome.exit_code == 0
    assert item["held_seconds"] >= 1
    assert outcome.document["summary"]["looks"] >= 2


def test_the_deadline_passes(address: str) -> None:
    """7 for what is not so, 5 for what never appeared, 1 for both."""
    commit(address, "gate-late", 0, 0)
    at = ("-b", address, *LONG)
    late = run(*at, "wait", "gate-late", "--until", "lag = 0", "--deadline", "1ms", "-o", "json")
    assert late.exit_code == 7
    assert late.document["errors"][0]["code"] == "DEADLINE_PASSED"
    assert re.search("`gate-late`: `lag = 0` did not hold within .*: lag is 80", late.stderr)
    never = run(*at, "wait", "gate-never", "--until", "empty", "--deadline", "1ms")
    assert never.exit_code == 5
    both = run(*at, "wait", "gate-late", "gate-never", "--until", "lag = 0", "--deadline", "1ms")
    assert both.exit_code == 1


def test_what_is_not_known_is_waited_for(address: str) -> None:
    """A partition that is gone leaves the lag open."""
    create_topics(address, {"gate-gone": 1})
    commit_offsets(address, {"gate-unknown": {("gate-gone", 0): 0, (TOPIC, 0): 50}})
    delete_topics(address, ["gate-gone"])
    line = ("wait", "gate-unknown", "--until", "caught-up", "--deadline", "1ms", "-o", "json")
    outcome = run("-b", address, *LONG, *line)
    # Brokers may forget the commits of a deleted topic; until then the lag is not known.
    holds = outcome.document["items"][0]["holds"]
    assert (outcome.exit_code, holds) in ((7, None), (0, True)), outcome


BAD = [
    ("wait g --until 'lag = '", "expected a number at the end"),
    ("wait g --until idle", "use empty, stable, caught-up, or a condition"),
    ("wait g --until stabel", "`--until stabel` is not a condition; did you mean `stable`?"),
    ("wait g --until empty --deadline soon", "is not a duration"),
    ("wait g --until empty --deadline 1m --stable 2m", "longer than --deadline"),
    ("wait g", "missing option `--until`"),
    ("wait --until empty", "missing argument"),
]


@pytest.mark.parametrize(("line", "says"), BAD)
def test_bad_lines(address: str, line: str, says: str) -> None:
    """Refused before anything is asked."""
    import shlex

    outcome = run("-b", address, *shlex.split(line))
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert says in outcome.stderr
