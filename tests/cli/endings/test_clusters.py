"""Every command at clusters that are not there, hang, talk nonsense, or let nobody in."""

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from random import Random
from typing import Final

import pytest

from tests.support.endings import bad_clusters
from tests.support.endings.choice import cases, share, times
from tests.support.endings.held import check_words, check_writes, document_of, errors_in
from tests.support.endings.lines import LINES
from tests.support.endings.program import Program, is_over, run_program
from tests.support.endings.world import Place, World, random_for
from tests.support.kafka.waiting import wait_until

WRONG_PASSWORD: Final = "the password is wrong"
Cluster = Callable[[Random], AbstractContextManager[str]]
CLUSTERS: Final[Mapping[str, Cluster | None]] = {
    "nobody listens": bad_clusters.unreachable,
    "nobody answers": bad_clusters.black_hole,
    "garbage is answered": bad_clusters.garbage,
    WRONG_PASSWORD: bad_clusters.wrong_password,
    "everything is forbidden": None,
}
TIMEOUT_MS: Final = 1_000
LONG_MS: Final = 60_000
"""Where a cluster answers, so that a busy machine is in time."""
LATE_S: Final = 2
TELLS_MORE: Final = ("lag collect", "ping")
"""Commands that tell on stdout how far they came."""
SECURITY: Final = """\
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.username=wren
"""

CASES = share(
    [(name, cluster) for name, line in LINES.items() if line.asks for cluster in CLUSTERS],
    each=1,
    least=3,
)


@pytest.mark.share(8)
@pytest.mark.parametrize(("name", "condition"), cases(CASES))
def test_clusters(world: World, name: str, condition: str) -> None:
    """One failure is told, with its exit code, in time, and nothing is claimed."""
    line, make = LINES[name], CLUSTERS[condition]
    for time in times(name):
        place = world.place(line)
        random = random_for(name, condition, time)
        timeout_ms = LONG_MS if condition == WRONG_PASSWORD else TIMEOUT_MS
        cluster = make(random) if make else bad_clusters.without_rights(world.sandbox)
        if cluster_asks_for_a_login(condition, random):
            config = place.folder / "client.properties"
            config.write_text(config.read_text() + SECURITY)
        with cluster as address:
            ending = run_program(
                world.words(line, place, timeout_ms, address),
                place.folder,
                env=world.environment(place),
                meanwhile=ended_when_told(place) if line.kind == "watch" else None,
            )
        check_words(ending, place)
        check_writes(world, line, place, ending)
        code = 0 if line.at_best else 3 if line.grammar == "own" else 1
        assert ending.code == code, ending
        assert bool(ending.stderr) != line.at_best, ending
        if condition == WRONG_PASSWORD and not line.at_best:
            assert len(errors_in(ending)) <= 1, ending
            assert "the login of" in ending.said or "SaslAuth" in ending.said, ending
        if make is not None and line.grammar == "own" and line.of not in TELLS_MORE:
            document = document_of(ending)
            assert ending.stdout == b"" or (document and not document["items"]), ending
        if ending.waited_s is not None and line.kind != "watch":
            start_s = world.usual("the help").waited_s or 0
            limit_s = (timeout_ms + line.deadline_ms) / 1_000 + LATE_S
            assert ending.waited_s < limit_s + 5 * start_s, ending


def cluster_asks_for_a_login(condition: str, random: Random) -> bool:
    """Whether the client has a login: a cluster that answers nothing may be asked either way."""
    if condition == WRONG_PASSWORD:
        return True
    return CLUSTERS[condition] is not None and random.random() < 0.5


def ended_when_told(place: Place) -> Callable[[Program], None]:
    """Sends Ctrl-C when the first failure is told: `--watch` would look again."""

    def tell(process: Program) -> None:
        file = place.folder / "stderr"
        wait_until(
            lambda: is_over(process) or (file.exists() and file.stat().st_size > 0),
            "the failure is told",
            timeout_s=240,
        )
        os.kill(process.pid, signal.SIGINT)

    return tell
