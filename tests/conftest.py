"""Fixtures that every folder of tests shares. What is heavy starts when the first test asks."""

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from xdist.remote import Producer
from xdist.workermanage import WorkerController

from tests.schedule import UNITS, Schedule, in_order, send_units, units_of
from tests.support.budget import Budget
from tests.support.chaos.trio import Trio
from tests.support.durations import DurationRecorder, recorded
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import SASL_MECHANISMS, ClusterSpec
from tests.support.kafka.guarded import guarded
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.releases import chosen_release
from tests.support.limits import Limits
from tests.support.requirements import tell_gaps
from tests.support.sandbox.twins import Twins
from tests.support.shares import Shares
from tests.support.spark_session import spark
from tests.support.unit_resources import NAME, UnitResources, resources_of

# Imported here and nowhere else: imported twice, a session fixture would be two, and Spark has
# room for one session in a process.
__all__ = ["spark"]

# A shell that runs the tests in the background has Ctrl-C ignored, `nohup` a hang-up; both would be
# ignored by what the tests start, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

_HANDLERS = {
    number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
}

# Files that tests write hold passwords, and the program warns where others can read them.
os.umask(0o077)

# Contexts and logs of whoever runs the tests are none of theirs.
_OWN_HOME = tempfile.mkdtemp(prefix="kgroups-tests-")
os.environ["XDG_CONFIG_HOME"] = f"{_OWN_HOME}/config"
os.environ["XDG_STATE_HOME"] = f"{_OWN_HOME}/state"
atexit.register(shutil.rmtree, _OWN_HOME, ignore_errors=True)
_UNITS_FILE = Path(_OWN_HOME) / "units.json"

# Every run has the same examples, unless it looks for new ones (`make fuzz`), and none is
# judged by the time it took.
TIMELESS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("the same examples", TIMELESS, derandomize=True)
settings.register_profile("other examples", TIMELESS, print_blob=True)
if "KGROUPS_FUZZ_SEED" in os.environ:
    settings.load_profile("other examples")
else:
    settings.load_profile("the same examples")
    # Numbers and words of all modules that a process has read would be among the examples: the
    # same only where the same tests ran before, and each process would parse those modules.
    providers._get_local_constants = Constants

KAFKA_LOGS = Path(__file__).parent.parent / ".cache" / "kafka-logs"


@pytest.fixture(autouse=True)
def _signal_handlers() -> None:
    """Those of Python: the last thing that a command does is to let signals end its process.

    That of a command which ran in this process would end the tests.
    """
    for number, handler in _HANDLERS.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the schedule learns from."""
    parser.addoption(
        "--record-durations",
        action="store_true",
        help="keep in tests/data/durations.json how long each file takes",
    )
    parser.addoption(
        "--budget",
        type=float,
        metavar="SECONDS",
        help="begin no file of tests that would not end in time, and name those",
    )


def pytest_configure(config: pytest.Config) -> None:
    """A test that hangs ends, wherever it hangs; what a unit shares ends with it."""
    if config.getoption("record_durations"):
        config.pluginmanager.register(DurationRecorder())
    if (budget_s := config.getoption("budget")) is not None:
        config.pluginmanager.register(Budget(budget_s, recorded()))
    config.pluginmanager.register(Twins())
    config.pluginmanager.register(Shares())
    config.pluginmanager.register(Limits())
    is_one_of_several = hasattr(config, "workerinput")
    config.pluginmanager.register(UnitResources(ends_with_unit=is_one_of_several), NAME)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives to the end: no pass over garbage looks at it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # Passes over all that lives are rare: what tests make is let go without them.
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not run is named, with the reason."""
    tell_gaps(terminalreporter)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Schedule | None:
    """`-n 2 --dist loadfile`, and files that share something heavy stay together."""
    if config.getvalue("dist") != "loadfile":
        return None
    return Schedule(config, log, _UNITS_FILE)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """A process that collects the tests says which files stay together."""
    node.workerinput["units"] = str(_UNITS_FILE)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of several the longest units come first."""
    config.stash[UNITS] = units = units_of(items)
    if hasattr(config, "workerinput"):
        send_units(units, Path(config.workerinput["units"]))
        items[:] = in_order(items, units, recorded())


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaCluster]:
    """One plain broker for the whole session; use group and topic names of your own.

    Its log stays in `.cache/kafka-logs` when a test of the session failed.
    """
    with _running(request, ClusterSpec(release=chosen_release()), "session") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cluster_address(kafka: KafkaCluster) -> str:
    """The cluster of suites that are shared: the real broker, unless a folder says another."""
    return kafka.bootstrap


@pytest.fixture(scope="module")
def secure_kafka(request: pytest.FixtureRequest) -> KafkaCluster:
    """One broker with TLS and SASL listeners (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512).

    Its only user is `alice`; `librdkafka_settings` and `java_settings` get in. Without TLS it takes
    tokens that nobody signed, too (OAUTHBEARER).
    """
    login = "listener.name.sasl_plaintext"
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    spec = ClusterSpec(
        protocols=("SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        properties={
            f"{login}.sasl.enabled.mechanisms": ",".join((*SASL_MECHANISMS, "OAUTHBEARER")),
            f"{login}.oauthbearer.sasl.jaas.config": f"{module} required;",
        },
    )
    return resources_of(request).hold("secure", lambda: _running(request, spec, "secure"))


@pytest.fixture(scope="module")
def trio(request: pytest.FixtureRequest) -> Trio:
    """Three brokers that are controllers too; whoever lets one go heals it."""
    return resources_of(request).hold("trio", Trio)


@pytest.fixture(scope="module")
def guarded_kafka(request: pytest.FixtureRequest) -> KafkaCluster:
    """One broker with ACLs, TLS and SASL listeners; the TLS one demands a certificate."""
    return resources_of(request).hold("guarded", guarded)


@pytest.fixture(scope="session")
def official() -> Iterator[WarmTools]:
    """Kafka's own command line tools in one warm JVM, for every cluster of the session."""
    with WarmTools() as tools:
        yield tools


@contextmanager
def _running(
    request: pytest.FixtureRequest, spec: ClusterSpec, name: str
) -> Iterator[KafkaCluster]:
    """A running cluster; its logs are removed unless a test failed."""
    session = request.session
    logs = KAFKA_LOGS / f"{name}-{os.getpid()}"
    with KafkaCluster(spec, logs=logs) as cluster:
        yield cluster
    if not session.testsfailed:
        shutil.rmtree(logs)
