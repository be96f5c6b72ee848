"""Output that cannot be written: the work is done, the exit code stays, and 74 where it was 0."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.process import PROGRAM, TIMEOUT_S, environment, finish, start
from tests.support.cli.runner import run
from tests.support.kafka.child import run_program
from tests.support.kafka.workload import commit_offsets, fetch_offsets, produce

FULL = "No space left on device"
SHORT = ("coordinator", "g", "--partitions", "50")


@contextmanager
def without_reader() -> Iterator[int]:
    """The writing end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


@contextmanager
def full() -> Iterator[int]:
    """A file on a disk without room."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def finish_without(descriptors: tuple[int, ...], *line: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program that has none of these streams."""
    closing = "".join(f" {descriptor}>&-" for descriptor in descriptors)
    done = run_program(
        ["sh", "-c", f'exec "$@"{closing}', "sh", PROGRAM, *line],
        env=environment(),
        timeout_s=TIMEOUT_S,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.share(2)
@pytest.mark.parametrize("line", [SHORT, (*SHORT, "-o", "json"), ("--help",), ("list", "--help")])
def test_a_full_disk(line: tuple[str, ...]) -> None:
    """One sentence on stderr, and 74."""
    with full() as out:
        code, _, stderr = finish(*line, stdout=out)
    assert code == 74
    assert stderr.startswith(f"error: the result could not be printed: {FULL}\n\nhint: ")
    assert stderr.count("error") == 1


def test_a_closed_stdout() -> None:
    """As a full one, and no file or socket takes its number."""
    code, _, stderr = finish_without((1,), *SHORT)
    assert code == 74
    assert stderr.startswith("error: the result could not be printed: stdout is closed\n")


def test_a_failure_keeps_its_code() -> None:
    """74 says that all else is done."""
    with full() as out:
        code, _, stderr = finish("coordinator", "g", "--partitions", "0", stdout=out)
        assert (code, stderr.count("error:")) == (2, 1)


@pytest.mark.parametrize("official", [("official", "--help"), ("official", "--version")])
def test_the_official_grammar(official: tuple[str, ...]) -> None:
    """Every failure is 1 there."""
    with full() as out:
        code, _, stderr = finish(*official, stdout=out)
    assert code == 1
    assert stderr.startswith(f"error: the result could not be printed: {FULL}\n")


@pytest.mark.share(3)
@pytest.mark.parametrize("how", ["full", "closed", "without reader"])
def test_stderr_changes_nothing(how: str) -> None:
    """Whatever cannot be said there, the data and the exit code are the same."""
    line = ("describe", "g", "-b", "127.0.0.1:1")
    if how == "closed":
        ends = finish_without((2,), *line), finish_without((2,), *SHORT)
    else:
        with (full if how == "full" else without_reader)() as out:
            ends = finish(*line, stderr=out), finish(*SHORT, stderr=out)
    assert [end[0] for end in ends] == [3, 0]
    assert ends[1][1] == finish(*SHORT)[1]


def test_nothing_is_open() -> None:
    """A program without any stream works and ends with the code of what it did."""
    assert finish_without((0, 1, 2), *SHORT)[0] == 74
    assert finish_without((0, 1, 2), "delete", "g", "-b", "127.0.0.1:1")[0] == 3
    code, _, stderr = finish_without((0,), "delete", "g", "-b", "127.0.0.1:1")
    assert (code, "cannot be reached" in stderr) == (3, True)


def test_nobody_reads_the_failure(tmp_path: Path) -> None:
    """`describe nosuch 2>&1 | true` is still 5."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster, without_reader() as out:
        line = ("describe", "nosuch", "-b", cluster.bootstrap_servers)
        assert finish(*line, stdout=out, stderr=out)[0] == 5
        official = ("--describe", "--group", "nosuch", "--bootstrap-server", line[-1])
        assert finish(*official, stdout=out, stderr=out)[0] == 1


GROUPS = 320
WRITES = {
    "reset-offsets": ("reset-offsets", "--regex", "x-.*", "--all-topics", "--to", "earliest"),
    "delete-offsets": ("delete-offsets", "--regex", "x-.*", "--all-topics"),
}


@pytest.mark.share(8)
@pytest.mark.parametrize("command", WRITES)
def test_a_write_that_nobody_watches(command: str, tmp_path: Path) -> None:
    """`… 2>&1 | head -1` writes all there is to write, and tells the undo file."""
    with Sandbox(brokers=1, topics={"t": 3}) as cluster:
        address = cluster.bootstrap_servers
        produce(address, {("t", number): 20 for number in range(3)})
        start_at = {("t", number): 10 for number in range(3)}
        commit_offsets(address, {f"x-{number:04}": start_at for number in range(GROUPS)})
        line = (*WRITES[command], "--yes", "-b", address, "--undo-dir", str(tmp_path))
        with start(*line, "--timeout", "120s", stderr=-2) as process:
            assert process.stdout is not None
            assert process.line()
            process.stdout.close()
            assert process.wait(timeout=180) == 0
        looked = run("-b", address, "describe", "x-*", "-o", "json", "--timeout", "120s").document
        held = {
            (item["group"], row["partition"]): row["committed_offset"]
            for item in looked["items"]
            for row in item["offsets"]
        }
        assert set(held.values()) == ({0} if command == "reset-offsets" else set())
        (undo,) = tmp_path.iterdir()
        assert json.loads(undo.read_text())["outcome"]["at"]
        assert json.loads(undo.read_text())["outcome"]["done"] == GROUPS * 3
        back = run(
            "-b", address, "--timeout", "120s", "reset-offsets", "--undo", str(undo), "--yes"
        )
        assert back.exit_code == 0, back.stderr
        assert fetch_offsets(address, "x-0300") == start_at


@pytest.mark.share(4)
@pytest.mark.parametrize("how", ["full", "without reader"])
@pytest.mark.parametrize("grammar", ["own", "official"])
def test_a_write_that_cannot_be_told(how: str, grammar: str, tmp_path: Path) -> None:
    """It is done, told in the undo file, and said with 74 (1 in the official grammar)."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        address = cluster.bootstrap_servers
        produce(address, {("t", 0): 20})
        commit_offsets(address, {"g": {("t", 0): 10}})
        line: tuple[str, ...] = (
            "reset-offsets",
            "g",
            "--to",
            "earliest",
            "--all-topics",
            "--yes",
            "-b",
            address,
        )
        if grammar == "official":
            words = "--reset-offsets --group g --to-earliest --all-topics --execute"
            line = (*words.split(), "--bootstrap-server", address)
        with (full if how == "full" else without_reader)() as out:
            env = environment(KGROUPS_UNDO_DIR=str(tmp_path))
            code, _, stderr = finish(*line, stdout=out, env=env)
        assert code == (0 if how != "full" else 74 if grammar == "own" else 1)
        assert stderr.count("error: the result could not be printed") == (how == "full")
        assert fetch_offsets(address, "g") == {("t", 0): 0}
        (undo,) = tmp_path.iterdir()
        assert json.loads(undo.read_text())["outcome"]["at"]
        assert run("-b", address, "reset-offsets", "--undo", str(undo), "--yes").exit_code == 0
        assert fetch_offsets(address, "g") == {("t", 0): 10}


def test_watching_ends_with_its_reader() -> None:
    """At once, not when it next has something to say."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        commit_offsets(cluster.bootstrap_servers, {"g": {("t", 0): 0}})
        line = ("list", "--watch", "3600", "-b", cluster.bootstrap_servers, "-o", "json")
        with start(*line) as process:
            assert process.stdout is not None
            assert process.line()
            process.stdout.close()
            assert process.wait(timeout=60) == 0
        with full() as out:
            assert finish(*line, stdout=out)[0] == 74


def test_a_pipe_that_does_not_block(tmp_path: Path) -> None:
    """A pipe that another program has made non-blocking is written to the end."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    with os.fdopen(reader, "rb") as out, start("completion", "bash", stdout=writer) as process:
        os.close(writer)
        text = out.read()
        assert process.wait(timeout=60) == 0
    assert len(text) > 4096
    assert text.decode() == finish("completion", "bash")[1]


def test_the_program_is_the_entry_point() -> None:
    """The installed command handles signals before it imports."""
    assert "kgroups.cli.__main__" in PROGRAM.read_text()
