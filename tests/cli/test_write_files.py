"""The undo file on disk: what is named as one and is none, and places where none can be written."""

import errno
import os
import resource
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgroups.cli.write_files import load, save_undo
from kgroups.core.errors import UsageError
from kgroups.core.offsets import row_file
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import Replaced, commit_rows
from kgroups.core.offsets.write_file import UNDO
from kgroups.core.snapshot import CommittedOffset
from tests.support.cli.measured import measure

MAX_PEAK_BYTES = 400_000_000
PROGRAM_BYTES = 45_000_000
"""What it takes before it has read anything."""
NOBODY = ("-b", "127.0.0.1:1", "--timeout", "1s")
UNDO_LINE = (*NOBODY, "reset-offsets", "--yes", "--no-undo", "--undo")


def _socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
    return path


def _lists(path: Path) -> Path:
    path.write_bytes(b"[" + b"[]," * (row_file.WHOLE_BYTES // 3 - 2) + b"[]]")
    return path


HEAD = (
    '{"schema": "kgroups.undo/3", "command": "reset-offsets", "cluster_id": null, '
    '"created_at": "now", "topic_ids": {}, "rows": ['
)


def _lines(row: Callable[[int], str], count: int) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        with path.open("w") as file:
            file.write(f"{HEAD}\n")
            file.writelines(f"{row(number)},\n" for number in range(count))
        return path

    return write


def _crowd(number: int) -> str:
    """A row of a group that shares nothing with the others."""
    columns = (
        f'"partition": [{10**6 + number}], "offset": [{10**12 + number}], '
        f'"leader_epoch": [{10**6 + number}], "metadata": ["m{number}"], '
        f'"new_offset": [{10**13 + number}]'
    )
    return f'{{"group": "g{number}", "commits": {{"t{number}": {{{columns}}}}}}}'


def _numbers(path: Path) -> Path:
    """Rows that are none, as many as fit into a file that is read whole."""
    zeros = "0," * ((row_file.WHOLE_BYTES - 200) // 2)
    path.write_text(f"{HEAD}{zeros}0]}}")
    return path


BAD: dict[str, Callable[[Path], Path]] = {
    "a socket": _socket,
    "millions of lists": _lists,
    "millions of numbers": _numbers,
    "more rows than any has": _lines(_crowd, row_file.MAX_ROWS + 1),
    "one long line": _lines(lambda _: '"' + "x" * 9_000_000 + '"', 1),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("what", BAD)
def test_what_is_no_undo_file(what: str, tmp_path: Path) -> None:
    """Exit code 2 and one sentence, in little memory, without asking the cluster.

    Other things that are no files: `test_bad_files.py`.
    """
    told = measure(tmp_path, *UNDO_LINE, str(BAD[what](tmp_path / "file")))
    assert (told.code, told.stdout, len(told.errors)) == (2, "", 1), told
    assert len(told.stderr) < 600
    assert "Traceback" not in told.stderr
    assert told.peak_bytes < MAX_PEAK_BYTES


@pytest.mark.parametrize(
    "share", [pytest.param(1.0, marks=pytest.mark.slow("a quarter of it is in every run")), 0.25]
)
def test_the_longest_file_that_is_read(share: float, tmp_path: Path) -> None:
    """As many rows as there may be fit into the memory, too: then the cluster is asked.

    Args:
        share: of so many rows, which may take this share of what is left beside the program.
    """
    rows = int(share * min(row_file.MAX_ROWS, row_file.MAX_BYTES // 230))
    path = _lines(_crowd, rows)(tmp_path / "file")
    with path.open("rb+") as file:
        file.seek(-2, os.SEEK_END)
        file.write(b"\n]}\n")
    told = measure(tmp_path, *UNDO_LINE, str(path))
    assert (told.code, told.stdout) == (3, ""), told
    assert told.peak_bytes < PROGRAM_BYTES + share * (MAX_PEAK_BYTES - PROGRAM_BYTES)


CHANGE = Change("g", "t", 0, CommittedOffset(5), CommittedOffset(7))


def save(folder: Path, change: Change = CHANGE) -> Path:
    """The path of a file that was written."""
    rows = commit_rows([change])
    return save_undo(
        folder, "reset-offsets", rows, cluster_id="c", topic_ids={}, hint="another folder"
    )


def read_back(path: Path) -> dict[str, list[Replaced]]:
    """The rows of a file."""
    return {group: list(rows) for group, rows in load(path, UNDO).commits.items()}


def test_it_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is killed while it is written leaves no half of one under its name."""
    seen: list[str] = []
    sync = os.fsync

    def looking(descriptor: int) -> None:
        seen.extend(path.name for path in tmp_path.glob("undo-*.json"))
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", looking)
        path = save(tmp_path)
    assert seen == [path.name]  # as its folder is synced, not as the text is
    assert list(tmp_path.iterdir()) == [path]


def test_only_we_may_read_it(tmp_path: Path) -> None:
    """Folders are made, the file is ours and alone."""
    path = save(tmp_path / "a" / "b")
    assert read_back(path) == {"g": [Replaced("g", "t", 0, CommittedOffset(5), CommittedOffset(7))]}
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_there_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A link that somebody put there is not followed, a file is not overwritten."""
    monkeypatch.setattr("kgroups.cli.write_files.now_ms", lambda: 1_000)
    target = tmp_path / "precious"
    target.write_text("precious")
    folder = tmp_path / "undo"
    folder.mkdir()
    name = folder / f"undo-19700101T000001000Z-{os.getpid()}.json"
    if kind == "link":
        name.symlink_to(target)
    else:
        name.write_text("precious")
    with pytest.raises(UsageError, match="File exists; nothing was changed"):
        save(folder)
    assert target.read_text() == name.read_text() == "precious"


def test_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On such file systems it is renamed, and what is there is left alone even so."""
    monkeypatch.setattr("kgroups.cli.write_files.now_ms", lambda: 1_000)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no links")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    path = save(tmp_path)
    assert read_back(path) == {"g": [Replaced("g", "t", 0, CommittedOffset(5), CommittedOffset(7))]}
    with pytest.raises(UsageError, match="File exists; nothing was changed"):
        save(tmp_path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def hardly_any_room() -> Iterator[None]:
    """No file may become longer than 64 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("hardly_any_room")
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """Half a file is none: it is taken away again."""
    with pytest.raises(UsageError, match="File too large; nothing was changed"):
        save(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["/proc/nowhere", "/dev/null/below", "/dev/null"])
def test_a_folder_that_takes_no_file(folder: str) -> None:
    """It is said which, and what to do."""
    with pytest.raises(UsageError, match="cannot be written") as caught:
        save(Path(folder))
    assert caught.value.hint == "another folder"


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """A group named with bytes that are no Unicode has no place in a file."""
    with pytest.raises(UsageError, match="not valid Unicode; nothing was changed"):
        save(tmp_path, CHANGE._replace(group="g\udcff"))
    assert list(tmp_path.iterdir()) == []


def test_more_rows_than_can_be_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that could not be used is not written."""
    monkeypatch.setattr("kgroups.core.offsets.row_file.MAX_ROWS", 0)
    with pytest.raises(UsageError, match="nothing was changed"):
        save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_with_a_nul() -> None:
    """Python refuses such a path before the system does."""
    with pytest.raises(UsageError, match="cannot be read"):
        load(Path("a\0b"), UNDO)
