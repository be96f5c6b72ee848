"""The one place that makes a Spark session: local and tuned, on a master, or through Connect.

Starting Spark is most of the time of a small report, so a local session runs the serial
collector, the C1 compiler only (unless the data is `large`), no user interface, and an archive of
the JVM's loaded classes (AppCDS) that the first run leaves in the cache folder: 6.5 s a run
instead of 15 s. What the JVM and Spark write goes to a file that is read only when something
fails.
"""

import contextlib
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext, __version__
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kgroups.core.errors import ClusterError, KgroupsError, UsageError
from kgroups.core.input_files.files import default_cache_dir
from kgroups.core.spark.java_discovery import ClassArchive, find_java
from kgroups.core.spark.jobs import Watcher, watched
from kgroups.core.spark.jvm_process import end_jvm, environment, last_words, starts_noted
from kgroups.core.spark.reach import must_be_connect_server, must_be_master
from kgroups.core.spark.settings import parse_master, spark_defaults
from kgroups.core.spark.tuning import (
    COMMON_CONF,
    FLAGS,
    LARGE_CONF,
    LARGE_FLAGS,
    LOCAL_CONF,
    SESSION_CONF,
    SMALL_CONF,
    SMALL_FLAGS,
)
from kgroups.core.spark.worker_package import write_package

Progress = Callable[[str], None]

# How long executors of a standalone cluster may take to come; a cluster without any waits forever.
# Containers of YARN and Kubernetes may have an image to fetch first.
EXECUTORS_TIMEOUT_S, CONTAINERS_TIMEOUT_S = 30.0, 300.0
# Waits of 0.05, 0.2, 0.8, 3.2 s: a server that is gone is told in seconds, not in ten minutes.
CONNECT_RETRIES = 4
# What a query may throw: PySpark's own errors; of a job that failed, and of a JVM that is gone,
# what py4j makes of it.
SPARK_ERRORS = (PySparkException, Py4JError)
SEVERAL_FAILED = "[STAGE_MATERIALIZATION_MULTIPLE_FAILURES]"

# How long a JVM may take to end, and to write its class archive (some seconds when not starved).
END_TIMEOUT_S, ARCHIVE_TIMEOUT_S = 10.0, 180.0
CONNECT_PORT = 15002
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Where and how Spark runs.

    Args:
        master: `local[N]`, `spark://host:port[,host:port]`, `yarn` or `k8s://https://host:port`;
            None: that of `spark-defaults.conf`, else local on all cores.
        remote: `sc://host:port`, a Spark Connect server; excludes `master`.
        memory: heap of the driver, in Spark's spelling.
        small: so few rows that they are worth one task only (below some 120,000).
        large: the data is worth the optimising compiler (above some 10 million rows).
        verbose: let Spark and the JVM write to stderr.
        cache_dir: where the class archive lives; None: the user's cache folder.
        class_archive: make and use the class archive.
        kind: of job; each loads classes of its own, and so has an archive of its own.
        conf: more settings of Spark, before those of `spark-defaults.conf` and ours.
        watcher: told how far Spark's jobs are while they run; None: nobody is.
    """

    master: str | None = None
    remote: str | None = None
    memory: str = "1g"
    small: bool = False
    large: bool = False
    verbose: bool = False
    cache_dir: Path | None = None
    class_archive: bool = True
    kind: str = "any"
    conf: Mapping[str, str] = field(default_factory=dict)
    watcher: Watcher | None = None

    @property
    def is_local(self) -> bool:
        """Whether driver and executors are one JVM on this machine."""
        return self.remote is None and (self.master is None or self.master.startswith("local"))


@contextlib.contextmanager
def spark_session(
    options: SessionOptions | None = None, progress: Progress | None = None
) -> Iterator[SparkSession]:
    """A session for the length of a `with` block, stopped at its end.

    Args:
        options: None: local, tuned for small data.
        progress: told in a few words what is being waited for.
    Raises:
        UsageError: `master` and `remote` together, or an address that cannot be read.
        ClusterError: the master or the Connect server does not answer.
        KgroupsError: no Java, or one that is too old, or Spark did not start.
    """
    options = options or SessionOptions()
    tell = progress or (lambda _text: None)
    if options.master and options.remote:
        raise UsageError("`--master` and `--remote` cannot be used together")
    if options.remote:
        start = _connect_session
    elif "PYSPARK_GATEWAY_PORT" in os.environ:
        start = _submitted_session
    else:
        start, options = _jvm_session, _with_defaults(options)
    with py4j_unlogged(), start(options, tell) as session, watched(session, options.watcher):
        yield session


@contextlib.contextmanager
def py4j_unlogged() -> Iterator[None]:
    """Keep py4j quiet: what it raises it also logs at the root, with the traceback.

    On Ctrl-C that is the interrupt itself, or that PySpark's handler asked the JVM something in the
    middle of another answer.
    """
    root = logging.getLogger()
    root.addFilter(_is_not_of_py4j)
    try:
        yield
    finally:
        root.removeFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def _with_defaults(options: SessionOptions) -> SessionOptions:
    """The options with what `spark-defaults.conf` says of what they leave open."""
    conf = {**spark_defaults(os.environ), **options.conf}
    master = conf.pop("spark.master", None)
    return replace(options, master=options.master or master, conf=conf)


# --- Connect -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _connect_session(options: SessionOptions, tell: Progress) -> Iterator[SparkSession]:
    """A session on a Spark Connect server, which gets our package for its Python workers."""
    assert options.remote is not None
    address = urlsplit(options.remote.split(";", 1)[0].rstrip("/"))
    is_sound = address.scheme == "sc" and address.hostname
    try:
        port = address.port or CONNECT_PORT
    except ValueError:  # no number, or beyond 65535
        is_sound = False
    if not is_sound:
        raise UsageError(
            f"`{options.remote}` is not the address of a Spark Connect server",
            hint="write it as sc://host:15002",
        )
    from pyspark.sql.connect.client.retries import DefaultPolicy  # gRPC

    tell(f"connecting to Spark at {options.remote}")
    # With a token, Spark's client takes TLS for granted.
    tls = bool(re.search(r";(use_ssl=true|token=)", options.remote, re.IGNORECASE))
    must_be_connect_server(str(address.hostname), port, tls=tls)
    try:
        session = SparkSession.builder.remote(options.remote).create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=CONNECT_RETRIES)])
    except (PySparkException, OSError) as exc:
        raise ClusterError(
            f"Spark Connect server `{options.remote}` refused a session: {first_line(exc)}",
            hint="its Spark version must match the one installed here: " + __version__,
        ) from exc
    try:
        small = SMALL_CONF if options.small else {}
        for key, value in {**SESSION_CONF, **small, **options.conf}.items():
            session.conf.set(key, value)
        with tempfile.TemporaryDirectory(prefix="kgroups-") as folder:
            session.addArtifacts(str(write_package(Path(folder))), pyfile=True)
        yield session
    finally:
        session.stop()


# --- under spark-submit ---


@contextlib.contextmanager
def _submitted_session(options: SessionOptions, tell: Progress) -> Iterator[SparkSession]:
    """A session in the JVM of `spark-submit`, which has chosen master and memory."""
    if options.master:
        raise UsageError(
            "`--master` cannot be used under spark-submit", hint="give it to spark-submit"
        )
    tell("starting Spark (spark-submit)")
    builder = SparkSession.builder
    for key, value in {**SESSION_CONF, **options.conf}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        with tempfile.TemporaryDirectory(prefix="kgroups-") as folder:
            session.sparkContext.addPyFile(str(write_package(Path(folder))))
            yield session
    finally:
        session.stop()


# --- a JVM of our own --------------------------------------------------------------------------


@contextlib.contextmanager
def _jvm_session(options: SessionOptions, tell: Progress) -> Iterator[SparkSession]:
    """A session in a JVM that we start: local, or the driver of a standalone cluster."""
    if options.is_local and options.master is not None:
        parse_master(options.master, os.environ)
    java = find_java()
    conf = {**COMMON_CONF, **SESSION_CONF}
    conf |= SMALL_CONF if options.small else {}
    conf["spark.app.name"] = "kgroups"
    conf["spark.master"] = options.master or f"local[{os.cpu_count() or 1}]"
    if options.is_local:
        # One task a core: more only cost start-up of tasks. Plans are small and known.
        conf.setdefault("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
        conf["spark.driver.host"] = conf["spark.driver.bindAddress"] = "127.0.0.1"
        conf |= LARGE_CONF if options.large else LOCAL_CONF
    else:
        conf |= _reach_master(options)
    conf["spark.driver.memory"] = options.memory
    conf |= options.conf
    folder = options.cache_dir or default_cache_dir()
    archive = ClassArchive.of(java, folder, options.kind) if options.class_archive else None
    flags = [*FLAGS, *(LARGE_FLAGS if options.large else SMALL_FLAGS)]
    flags += archive.flags() if archive else ()
    extra = conf.get("spark.driver.extraJavaOptions")
    conf["spark.driver.extraJavaOptions"] = " ".join([*flags, *([extra] if extra else [])])
    tell(f"starting Spark ({conf['spark.master']})")
    with (
        tempfile.TemporaryFile(prefix="kgroups-spark-") as log,
        tempfile.TemporaryDirectory(prefix="kgroups-") as scratch,
    ):
        session, process = _launch(conf, None if options.verbose else log, java)
        well = False
        try:
            if not options.is_local:
                session.sparkContext.addPyFile(str(write_package(Path(scratch))))
            # Executors that are allocated on demand come with the first query only.
            if not options.is_local and conf.get("spark.dynamicAllocation.enabled") != "true":
                tell(f"waiting for executors of {options.master}")
                _wait_for_executors(session, str(options.master))
            yield session
            well = True
        finally:
            keeps = well and archive is not None and archive.is_new
            if keeps and archive and archive.is_first:
                tell("keeping Spark's classes for faster starts (once)")
            try:
                session.stop()
            finally:
                # What failed or was interrupted waits for nothing, and so keeps no classes.
                end_jvm(process, (ARCHIVE_TIMEOUT_S if keeps else END_TIMEOUT_S) if well else 0.0)
                if archive:
                    archive.keep() if keeps else archive.discard()


def _reach_master(options: SessionOptions) -> dict[str, str]:
    """Settings for a cluster, whose manager must answer now; YARN's says where it is in files."""
    master = parse_master(str(options.master), os.environ)
    if master.kind == "yarn":
        return {}
    secret = options.conf.get("spark.authenticate") == "true"
    is_spark = master.kind == "standalone"
    must_be_master(
        master.addresses,
        "Spark master" if is_spark else "Kubernetes API server",
        speaks_first=is_spark and not secret,
    )
    if is_spark and master.addresses[0][0] in LOCAL_HOSTS:
        return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return {}


def _wait_for_executors(session: SparkSession, master: str) -> None:
    """Returns when the cluster has given us an executor.

    Raises:
        ClusterError: it gives none; Spark would wait for one without end.
    """
    context: Any = session.sparkContext
    is_spark = master.startswith("spark:")
    timeout_s = EXECUTORS_TIMEOUT_S if is_spark else CONTAINERS_TIMEOUT_S
    deadline = time.monotonic() + timeout_s
    # The driver itself is one of them.
    while context._jsc.sc().getExecutorMemoryStatus().size() < 2:
        if time.monotonic() > deadline:
            raise ClusterError(
                f"Spark master `{master}` started no executor in {timeout_s:g} s",
                hint="it has no worker with a free core and enough memory",
            )
        time.sleep(0.1)


def _launch(
    conf: Mapping[str, str], log: IO[bytes] | None, java: Path
) -> tuple[SparkSession, subprocess.Popen[bytes] | None]:
    """Starts the JVM and the session in it; its output goes to `log`, ours stays clean."""
    from pyspark.java_gateway import launch_gateway

    spark_conf = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    streams: dict[str, Any] = {} if log is None else {"stdout": log, "stderr": log}
    python = os.environ.get("PYSPARK_PYTHON")
    local = conf["spark.master"].startswith("local")
    variables = {
        "JAVA_HOME": str(java.parents[1]),
        # Executors must run the driver's Python: another version cannot read its pickles.
        "PYSPARK_PYTHON": sys.executable if local or python is None else python,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    started: list[subprocess.Popen[bytes]] = []
    try:
        with environment(variables), starts_noted(started):
            gateway = launch_gateway(spark_conf, streams)  # type: ignore[no-untyped-call]
            session = SparkSession(SparkContext(conf=spark_conf, gateway=gateway))
    except BaseException as exc:  # py4j, PySpark and OSError: Spark did not start; or Ctrl-C
        for process in started:
            end_jvm(process, 0.0)
        if not isinstance(exc, Exception):
            raise
        why = last_words(log) or first_line(exc)
        is_narrow = re.search("[Mm]emory|heap", why)
        raise KgroupsError(
            f"Spark did not start: {why}",
            hint="give the driver more memory: --conf spark.driver.memory=1g"
            if is_narrow
            else "run with --verbose for Spark's own messages",
            code="SPARK_FAILED",
        ) from exc
    return session, gateway.proc


def _first_of_several(lines: Sequence[str]) -> list[str]:
    """The lines of the first of several failures, which Spark numbers below the first line."""
    starts = [at for at, line in enumerate(lines) if re.match(r"[12]\. \w+: ", line)]
    if not starts:
        return [lines[-1]]
    first = list(lines[starts[0] : starts[1] if len(starts) > 1 else None])
    return [re.sub(r"^1\. \w+: |( SQLSTATE: \w+)+$", "", first[0]), *first[1:]]


def first_line(exc: BaseException) -> str:
    """The message of an exception, on one line without a full stop.

    The first line of its text; of a Python worker's traceback the last, which names the failure;
    of several stages that failed at once the first one's.
    """
    lines = [line.strip() for line in str(exc).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("SQLSTATE")]  # Connect's last line
    if not lines:
        return type(exc).__name__
    if any(SEVERAL_FAILED in line for line in lines[:2]):
        lines = _first_of_several(lines)
    if lines[0].startswith("An error occurred while calling") and len(lines) > 1:
        # py4j: which method, then `: java.class.of.Exception: what it says`.
        return re.sub(r"^(: )?([\w$]+\.)+[\w$]+: ", "", lines[1]).rstrip(".")
    return lines[-1 if "Python worker" in lines[0] else 0].rstrip(".")
