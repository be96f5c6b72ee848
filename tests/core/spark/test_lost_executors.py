"""An executor that is killed while it computes: the report is what it would have been."""

from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from kgroups.core.lag.captures.capture_window import utc_time
from kgroups.core.lag.stores.places import parse_place
from tests.support.cli.process import TIMEOUT_S, environment, finish, start
from tests.support.kafka.child import WAIT_S
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows
from tests.support.lag.s3_gate import gate_before
from tests.support.lag.s3_server import BUCKET, s3_server
from tests.support.lag.spark_servers import QUICK_JVM, bare_python, standalone

pytestmark = pytest.mark.spark

PLACE = f"s3://{BUCKET}/captures"
CAPTURES = 12
CONF = (
    *("--conf", "spark.executor.memory=512m", "--conf", "spark.executor.cores=1"),
    *("--conf", f"spark.executor.extraJavaOptions={QUICK_JVM}"),
)
# How many files are read before a task is held: there are finished tasks by then.
READ_BEFORE = 5


@pytest.mark.slow("a minute: a master with two workers, one of whose executors is killed")
def test_killed_in_mid_job(tmp_path: Path) -> None:
    """Its finished and its unfinished tasks are done again by others: the same bytes."""
    window = ("--since", utc_time(START_MS), "--until", utc_time(START_MS + CAPTURES * STEP_MS))
    asked = ("lag", "report", "--captures", PLACE, *window, "--by", "partition", "--top", "1000")
    python = str(bare_python(tmp_path))
    with (
        s3_server() as store,
        gate_before(store) as (gate, through_gate),
        standalone(tmp_path, workers=2) as master,
    ):
        write_rows(parse_place(PLACE, store), captures(8, CAPTURES))
        line = (*asked, "-o", "csv", "--timeout", "10m", "--master", master, *CONF)
        env = environment(PYSPARK_PYTHON=python, **through_gate)
        code, undisturbed, stderr = finish(*line, env=env)
        assert code == 0, stderr
        gate.close(READ_BEFORE)
        with start(*line, env=env) as process:
            held = gate.wait_for_held()
            victim, its_own = executor_of(held.port)
            victim.kill()
            gone = psutil.wait_procs([victim, *its_own], WAIT_S)[0]
            assert len(gone) == 1 + len(its_own), "a process of the executor lives on"
            before = len(gate.asked)
            gate.open()
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
            assert process.returncode == 0, stderr
        again = {one.path for one in gate.asked[before:]}
        done = {one.path for one in gate.asked[:before]} - {one.path for one in gate.held}
    assert held.path in again, "nobody did the task of the executor that was killed"
    assert done, "no task had ended"
    assert len(undisturbed.splitlines()) > 1
    assert stdout == undisturbed


def executor_of(port: int) -> tuple[psutil.Process, list[psutil.Process]]:
    """The executor that a request came from, by its port, and the processes that it has started."""
    for executor in executors():
        with suppress(psutil.Error):  # one of them has just ended
            its_own = executor.children(recursive=True)
            for process in (executor, *its_own):
                if any(each.laddr.port == port for each in process.net_connections("tcp")):
                    return executor, its_own
    raise AssertionError(f"no executor has the port {port}")


def executors() -> list[psutil.Process]:
    """The executors of the workers that we have started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in process.cmdline():
                found.append(process)
    return found
