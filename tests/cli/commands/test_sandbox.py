"""`kgroups sandbox up` as a process: what it prints, how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from kgroups.cli.signals import SIGNALS
from tests.support.cli import runner
from tests.support.cli.process import start
from tests.support.kafka.child import WAIT_S, run_program
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.librdkafka_members import produce
from tests.support.sandbox.sandbox_process import SandboxProcess, write_lines

UP = [sys.executable, "-m", "kgroups.cli", "sandbox", "up"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A run that ends on its own."""
    return run_program([*UP, *arguments])


def test_json_is_of_its_schema() -> None:
    """The document that names the brokers is of its schema, and they can be reached."""
    folder = files("kgroups.cli.schemas")
    schema = json.loads((folder / "sandbox.json").read_text(encoding="utf-8"))
    common = json.loads((folder / "common.json").read_text(encoding="utf-8"))
    with SandboxProcess("--brokers", "3", "--topic", "t=4") as server:
        registry = Registry().with_resource(common["$id"], Resource.from_contents(common))
        jsonschema.Draft202012Validator(schema, registry=registry).validate(server.document)
        assert len(server.document["items"]) == 3
        produce(server.bootstrap_servers, "t", 4)


@pytest.mark.share(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_cleanly(number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end it with 0 and without a traceback; the event log told what was."""
    with SandboxProcess("--topic", "orders=3") as server:
        produce(server.bootstrap_servers, "orders", 3, partitions=3)
        assert server.stop(number) == 0
        text = server.stderr()
        assert "topic orders: created with 3 partitions" in text
        assert "Traceback" not in text


@pytest.mark.slow("one more start of the program")
def test_second_ctrl_c_ends_at_once() -> None:
    """Two signals on each other's heels: 130, or 0 if the first was quick enough."""
    with SandboxProcess() as server:
        os.kill(server.process.pid, signal.SIGSTOP)
        os.kill(server.process.pid, signal.SIGINT)
        os.kill(server.process.pid, signal.SIGTERM)
        os.kill(server.process.pid, signal.SIGCONT)
        assert server.process.wait(60) == 130


@pytest.mark.slow("one more start of the program")
def test_plain_output_is_the_address() -> None:
    """Without --output, stdout is the bootstrap address and nothing else."""
    with start("sandbox", "up", "--port", "0", "--quiet") as process:
        host, port = process.line().strip().rsplit(":", 1)
        socket.create_connection((host, int(port)), timeout=60).close()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=WAIT_S) == ("", "")
        assert process.returncode == 0


@pytest.mark.slow("one more start of the program")
def test_fixed_ports() -> None:
    """--port is the first broker's, the others follow; a taken one is named."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.listen()
        outcome = run("--port", str(port))
    assert outcome.returncode == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith(f"error: port {port} of 127.0.0.1 is in use\n")


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    """Unknown version, wrong YAML, wrong topic: an error, a hint, exit code 2."""
    wrong = write_lines(tmp_path / "wrong.yaml", "faults: [{api: Nothing, drop: true}]")
    handlers = list(map(signal.getsignal, SIGNALS))
    for arguments, words in [
        (["--as-version", "9.9"], "unknown Kafka version `9.9`"),
        (["--faults", str(wrong)], "unknown api `Nothing`"),
        (["--from", str(wrong)], "wrong.yaml"),
        (["--topic", "a=b"], "`a=b` is not TOPIC=PARTITIONS"),
        (["--property", "x"], "`x` is not KEY=VALUE"),
        (["--property", "x=1"], "unknown property `x`"),
        (["--brokers", "0"], "number of brokers is 0"),
    ]:
        outcome = runner.run("sandbox", "up", "--port", "0", *arguments)
        assert outcome.exit_code == 2, outcome
        assert outcome.stderr.startswith("error: ")
        assert words in outcome.stderr.splitlines()[0]
    assert list(map(signal.getsignal, SIGNALS)) == handlers  # of the tests' process


def test_data_directory_in_use(tmp_path: Path) -> None:
    """A second process on the same directory is refused with 4."""
    with SandboxProcess("--data-dir", str(tmp_path)) as server:
        outcome = run("--port", "0", "--data-dir", str(tmp_path))
        assert outcome.returncode == 4
        assert "in use by another sandbox" in outcome.stderr
        wait_until(lambda: server.process.poll() is None, what="the first goes on")
