"""No secret stands where every user of the machine sees it: arguments, environments, titles."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import yaml

from tests.support.cli.process import environment, start
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.child import WAIT_S, Child
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.waiting import DeadlinePassed
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("a broker of its own; passwords: tests/cli/test_exposed_passwords.py"),
]

KEY_PASSWORD = "the password of a key"


def seen(root: psutil.Process) -> Iterator[tuple[str, str]]:
    """Program and public words of a process and of all that it started."""
    processes = [root]
    with suppress(psutil.NoSuchProcess):
        processes += root.children(recursive=True)
    for process in processes:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            words = [process.name(), *process.cmdline()]
            words += [f"{name}={value}" for name, value in process.environ().items()]
            yield process.name(), "\n".join(words)


def test_a_command_that_runs(secure_kafka: KafkaCluster, tmp_path: Path) -> None:
    """Nor does the program that prints one of the secrets see the others."""
    secret = secure_kafka.spec.users["alice"]
    told = tmp_path / "told"
    script = tmp_path / "print-password"
    script.write_text(f"cat /proc/self/environ /proc/$PPID/cmdline > {told}; echo {secret}\n")
    settings = secure_kafka.librdkafka_settings("SASL_SSL", mechanism="SCRAM-SHA-256")
    settings |= {"sasl.password": f"exec:sh {script}", "ssl.key.password": KEY_PASSWORD}
    context = {"bootstrap_servers": settings.pop("bootstrap.servers"), "properties": settings}
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump({"contexts": {"here": context}}))
    arguments = ("describe", "--all-groups", "--watch", "3600", "-o", "jsonl")
    create_topics(secure_kafka.bootstrap, {"listed": 1})
    commit_offsets(secure_kafka.bootstrap, {"listed": {("listed", 0): 0}})
    variables = environment(KGROUPS_CONFIG=str(file))
    with start(*arguments, "--context", "here", "--timeout", "60s", env=variables) as running:
        running.line_that('{"', timeout_s=240)
        found = dict(seen(psutil.Process(running.pid)))
        running.stop()
    assert found
    assert str(file) in "".join(found.values())  # it is the command that was looked at
    public = "\n".join((*found.values(), told.read_text()))
    assert secret not in public
    assert KEY_PASSWORD not in public


@pytest.mark.slow("starts Spark as a process of its own; the case above is of its kind")
def test_java_and_its_workers(secure_kafka: KafkaCluster, tmp_path: Path) -> None:
    """Spark's JVM, and Python processes where it starts some, are handed the settings otherwise."""
    create_topics(secure_kafka.bootstrap, {"seen": 1})
    commit_offsets(secure_kafka.bootstrap, {"seen": {("seen", 0): 0}})
    secret = secure_kafka.spec.users["alice"]
    settings = secure_kafka.librdkafka_settings("SASL_SSL", mechanism="SCRAM-SHA-256")
    settings["ssl.key.password"] = KEY_PASSWORD
    file = write_properties_file(tmp_path / "client.properties", settings)
    found: dict[str, str] = {}
    with start("lag", "history", "--command-config", str(file), "-o", "json") as running:
        while not ended(running):
            for name, words in seen(psutil.Process(running.pid)):
                found[name] = found.get(name, "") + words
        stdout, stderr = running.communicate(timeout=WAIT_S)
    assert running.returncode == 0, stderr
    assert '"seen"' in stdout
    assert "java" in found  # a short log is read without Spark's Python workers
    public = "\n".join(found.values())
    assert secret not in public
    assert KEY_PASSWORD not in public


def ended(running: Child) -> bool:
    """Whether it has; looked at ten times a second."""
    try:
        running.wait(0.1)
    except DeadlinePassed:
        return False
    return True
