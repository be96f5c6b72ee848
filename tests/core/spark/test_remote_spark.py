"""The same reports on a standalone master with two workers and through Spark Connect."""

import json
import os
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from pyspark.sql import SparkSession

from kgroups.cli import __main__ as cli_main
from kgroups.core.lag.captures.capture_window import utc_time
from kgroups.core.lag.report import SMALL_ROWS, LagQuery, LagReport, lag_report
from kgroups.core.lag.stores.places import parse_place
from kgroups.core.lag.window.window_report import lag_report_over
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.process import TIMEOUT_S, environment, finish, start
from tests.support.kafka.child import WAIT_S, run_program
from tests.support.lag.made_fleet import fleet
from tests.support.lag.made_history import SHAPES, START_MS, STEP_MS, captures, write_rows
from tests.support.lag.s3_gate import gate_before
from tests.support.lag.s3_server import BUCKET, s3_server
from tests.support.lag.spark_servers import HOME, QUICK_JVM, bare_python, connect_server, standalone

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow("a Spark that runs elsewhere; one here: tests/core/spark/test_jobs.py"),
]

# Spark's own 200 tasks a shuffle are for more than some thousand rows on two cores.
FEW_TASKS = {"spark.sql.shuffle.partitions": "4"}

REPOSITORY = Path(__file__).parents[3]

# A process of its own: one process has one Spark.
ELSEWHERE = textwrap.dedent(
    """
    import json, sys
    from pathlib import Path
    from tests.core.spark.test_remote_spark import three_reports
    from kgroups.core.spark.jobs import NO_JOBS
    from kgroups.core.spark.session import SessionOptions, spark_session

    told = []
    where, conf = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    options = SessionOptions(**where, memory="512m", conf=conf, watcher=told.append)
    with spark_session(options) as session:
        print(json.dumps(three_reports(session, Path(sys.argv[3]))))
    assert told[-1] == NO_JOBS
    """
)


def three_reports(session: SparkSession, folder: Path) -> list[Any]:
    """Lag now, planned, and over a window, as plain data in a fixed order."""
    snapshot = fleet(31, 20)
    planned = LagQuery(by="member", assignors=("range", "uniform"), top=1000)
    window = {"since_ms": START_MS, "until_ms": START_MS + 30 * STEP_MS}
    reports: list[LagReport] = [
        lag_report([snapshot], LagQuery(top=1000), session=session),
        lag_report([snapshot], planned, session=session),
        lag_report_over(folder, LagQuery(top=1000, pictures=True), session=session, **window),  # type: ignore[arg-type]
    ]
    drawn = reports[2].pictures
    assert drawn is not None
    pictures = [drawn.over_time, drawn.partitions, drawn.members, drawn.verdicts]
    said = [[rounded(r.items), r.summary, [e.message for e in r.errors]] for r in reports]
    return [*said, pictures]


def rounded(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sums of fractions differ in the last digits with the order of their parts."""
    return [
        {key: round(v, 6) if isinstance(v, float) else v for key, v in item.items()}
        for item in items
    ]


def run_elsewhere(where: dict[str, str], conf: dict[str, str], folder: Path, python: Path) -> Any:
    """The three reports from another process; nothing of Spark on its streams.

    The path of the captures is relative: executors have folders of their own.

    Args:
        python: that executors run.
    """
    done = run_program(
        [sys.executable, "-c", ELSEWHERE, json.dumps(where), json.dumps(conf), folder.name],
        env=os.environ | {"PYSPARK_PYTHON": str(python), "PYTHONPATH": str(REPOSITORY)},
        cwd=folder.parent,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Collected captures that every Spark here can read."""
    place = tmp_path_factory.mktemp("captures")
    write_rows(place, captures(8, 20))
    return place


@pytest.fixture(scope="module")
def local(spark: SparkSession, folder: Path) -> Any:
    """What the local session says."""
    return json.loads(json.dumps(three_reports(spark, folder)))


@pytest.mark.slow("a minute: a master with two workers")
def test_standalone_master_with_two_workers(local: Any, folder: Path, tmp_path: Path) -> None:
    """Executors on both workers are sent our package, and say the same."""
    python = bare_python(tmp_path)
    with standalone(tmp_path, workers=2) as master:
        conf = {"spark.executor.memory": "512m", "spark.executor.cores": "1"}
        conf["spark.executor.extraJavaOptions"] = QUICK_JVM
        assert run_elsewhere({"master": master}, conf | FEW_TASKS, folder, python) == local
    for number in range(2):
        assert list((tmp_path / f"work-{number}").glob("app-*/*")), "this worker had no executor"


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
        copies = 2 * SMALL_ROWS // (CAPTURES * len(SHAPES))  # few are read by kgroups itself
        write_rows(parse_place(PLACE, store), captures(8, CAPTURES, copies))
        line = (*asked, "-o", "csv", "--timeout", "10m", "--master", master, *CONF)
        env = environment(PYSPARK_PYTHON=python, **through_gate)
        code, undisturbed, stderr = finish(*line, env=env)
        assert code == 0, stderr
        server = urlsplit(through_gate["AWS_ENDPOINT_URL"]).port
        gate.close(READ_BEFORE, lambda port: executor_of(port, server) is not None)
        with start(*line, env=env) as process:
            held = gate.wait_for_held()
            asking = executor_of(held.port, server)
            assert asking is not None
            victim, its_own = asking
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


def executor_of(
    port: int, server: int | None
) -> tuple[psutil.Process, list[psutil.Process]] | None:
    """The executor that a request came from, and the processes that it has started.

    Args:
        port: that the request came from.
        server: the port that it went to.
    Returns:
        None if it came from none: kgroups itself looks at files before Spark reads them.
    """
    for executor in executors():
        with suppress(psutil.Error):  # one of them has just ended
            its_own = executor.children(recursive=True)
            for process in (executor, *its_own):
                ends = ((c.laddr, c.raddr) for c in process.net_connections("tcp") if c.raddr)
                if any((near.port, far.port) == (port, server) for near, far in ends):
                    return executor, its_own
    return None


def executors() -> list[psutil.Process]:
    """The executors of the workers that we have started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in process.cmdline():
                found.append(process)
    return found


@pytest.mark.slow("half a minute: two JVMs, one of them spark-submit's own")
def test_spark_submit(tmp_path: Path) -> None:
    """The program as a job: the session is that of spark-submit, the answer the same."""
    file = tmp_path / "fleet.json"
    write_snapshot(fleet(3, 4), file)
    line = ["lag", "report", "--from", str(file), "-o", "json", "--quiet"]
    job = str(cli_main.__file__)
    submit = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]", "--conf"]
    submit += ["spark.ui.enabled=false", "--driver-memory", "512m", job, *line]
    variables = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = run_program(submit, env=os.environ | variables | {"SPARK_LOCAL_IP": "127.0.0.1"})
    assert done.returncode == 0, done.stderr
    code, alone, stderr = finish(*line)
    assert code == 0, stderr
    assert json.loads(done.stdout)["items"] == json.loads(alone)["items"]
    refused = run_program([*submit, "--master", "local[1]"], env=os.environ | variables)
    assert "`--master` cannot be used under spark-submit" in refused.stdout  # it has one stream


@pytest.mark.parametrize(
    "times", [1, pytest.param(2, marks=pytest.mark.slow("half a minute for a warm server"))]
)
def test_spark_connect(local: Any, folder: Path, tmp_path: Path, times: int) -> None:
    """Through a Connect server, which is sent our package; once more, since it stays warm."""
    python = bare_python(tmp_path)
    with connect_server(tmp_path, python) as address:
        for _ in range(times):
            assert run_elsewhere({"remote": address}, FEW_TASKS, folder, python) == local
