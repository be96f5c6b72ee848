"""Whoever starts a program for the tests and is killed with -9 leaves nothing running."""

import sys
from collections.abc import Mapping

import pytest

from tests.support.kafka.child import Child
from tests.support.kafka.waiting import wait_until
from tests.support.pages.browser import PROGRAM as CHROMIUM
from tests.support.processes import is_running
from tests.support.sandbox.foreign_clients import FOUND

DEAF = """
import signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
print("up", flush=True)
while True: signal.pause()
"""
MEMBER = """
from tests.support.fidelity.hosts.pool import HostPool
held = HostPool().alone({client!r})
"""
KINDS: Mapping[str, str] = {
    "a program that hears no signal and reads no input": (
        "import sys\nfrom tests.support.kafka.child import Child\n"
        f"held = Child([sys.executable, '-c', {DEAF!r}])\nheld.line_that('up')"
    ),
    "one that a thread started which is over": (
        "import sys, threading\nfrom tests.support.kafka.child import Child\nall = []\n"
        f"begin = lambda: all.append(Child([sys.executable, '-c', {DEAF!r}]))\n"
        "thread = threading.Thread(target=begin)\nthread.start(); thread.join(60)\n"
        "all[0].line_that('up')"
    ),
    "the warm tools": (
        "from tests.support.kafka.official_tools import WarmTools\nheld = WarmTools()"
    ),
    "a broker": (
        "from tests.support.kafka.broker import KafkaCluster\nheld = KafkaCluster().start()"
    ),
    "a broker that stands still": (
        "from tests.support.kafka.broker import KafkaCluster\n"
        "held = KafkaCluster().start()\nheld.pause(1)"
    ),
    "an embedded cluster": (
        "from tests.support.sandbox.sandbox_process import SandboxProcess\n"
        "held = SandboxProcess().__enter__()"
    ),
    "Spark": (
        "from kgroups.core.spark.session import SessionOptions, spark_session\n"
        "held = spark_session(SessionOptions(memory='512m'))\nheld.__enter__()"
    ),
    **{client: MEMBER.format(client=client) for client in FOUND},
    **(
        {"Chromium": "from tests.support.pages.browser import Browser\nheld = Browser()"}
        if CHROMIUM
        else {}
    ),
}
HOLD = """
import sys, psutil
children = psutil.Process().children(recursive=True)
print("running", *(child.pid for child in children), flush=True)
sys.stdin.read()
"""


@pytest.mark.share(4)
@pytest.mark.kafka
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_outlives_who_started_it(kind: str) -> None:
    """Each kind of program that tests start, and what that one starts."""
    with Child([sys.executable, "-c", KINDS[kind] + HOLD], stdin=-1) as parent:
        pids = [int(pid) for pid in parent.line_that("running").split()[1:]]
        assert pids
        parent.kill()
        wait_until(lambda: not any(map(is_running, pids)), f"{kind} has ended", timeout_s=120)
