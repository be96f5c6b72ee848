"""Files of a write on disk: undo files, there before anything is written, and saved plans."""

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from kgroups.cli.exits import now_ms
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.input_files.files import regular_file, whole_file
from kgroups.core.offsets.row_file import MAX_BYTES, Row
from kgroups.core.offsets.write_file import (
    KINDS,
    PLAN,
    UNDO,
    Command,
    Document,
    Schema,
    WriteFile,
    file_lines,
    read_file,
    with_outcome,
)
from kgroups.core.times import timestamp

_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""The errors of file systems without hard links."""


def default_undo_dir() -> Path | None:
    """The folder of undo files that the environment names; None where it wants none.

    `KGROUPS_NO_UNDO` wants none, `KGROUPS_UNDO_DIR` names one; else it is that of the user's state.
    """
    if os.environ.get("KGROUPS_NO_UNDO"):
        return None
    own = os.environ.get("KGROUPS_UNDO_DIR")
    if own:
        return Path(own).expanduser()
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "kgroups"


def save_undo(
    directory: Path,
    command: Command,
    rows: Iterable[Row],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    share_groups: Iterable[str] = (),
    hint: str,
) -> Path:
    """Write what is about to be replaced; the path of the file, which is on disk then.

    Args:
        directory: made if it is not there.
        rows: all of the kind of the command.
        topic_ids: of topics, as far as they are known.
        hint: what to do where the file cannot be written.
    Raises:
        UsageError: the file cannot be written, or not be read back, so nothing else may be.
    """
    document = _document(UNDO, command, cluster_id, topic_ids, share_groups)
    stamp = document.created_at.translate(str.maketrans("", "", "-:."))
    path = directory / f"undo-{stamp}-{os.getpid()}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        write_new(path, file_lines(document, rows))
    except (OSError, UnicodeEncodeError) as error:
        raise UsageError(
            f"the undo file `{path}` cannot be written: {_why(error)}; nothing was changed",
            hint=hint,
        ) from error
    return path


def _document(
    schema: Schema,
    command: Command,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    share_groups: Iterable[str],
) -> Document:
    """A file of this time, without its rows."""
    return Document(
        schema=schema,
        command=command,
        cluster_id=cluster_id,
        created_at=timestamp(now_ms()),
        topic_ids=dict(topic_ids),
        share_groups=[*share_groups],
        rows=[],
    )


def _why(error: OSError | ValueError | RuntimeError) -> object:
    if isinstance(error, UnicodeEncodeError):
        return "a name is not valid Unicode"
    return error.strerror if isinstance(error, OSError) else error


def save_plan(
    path: Path,
    command: Command,
    rows: Iterable[Row],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    share_groups: Iterable[str] = (),
) -> Path:
    """Write a plan; one that is there is replaced as a whole.

    Args:
        rows: all of the kind of the command.
        topic_ids: of its topics, as far as they are known.
    Raises:
        UsageError: the file cannot be written.
    """
    document = _document(PLAN, command, cluster_id, topic_ids, share_groups)
    try:
        file = path.expanduser()
        with whole_file(file) as text:
            text.writelines(file_lines(document, rows))
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"the plan `{path}` cannot be written: {_why(error)}") from error
    return file


def write_new(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file that only we may read, name and all on disk; what is there is left alone.

    The name is there only when all of the file is, whatever may end us before.

    Raises:
        OSError: something, a link even, has that name, or it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        _name(part, path)
    finally:
        with suppress(OSError):
            part.unlink()
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _name(part: Path, path: Path) -> None:
    """Give a file its name, unless something has it."""
    try:
        path.hardlink_to(part)  # unlike a rename, this never replaces anything
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        part.rename(path)


def add_outcome(path: Path, results: Mapping[str, int]) -> None:
    """Write into an undo file what became of its write, where that could not be printed.

    Args:
        path: of the file, which is replaced as a whole or not at all.
        results: how many changes had which result.
    """
    outcome = {"at": timestamp(now_ms()), **results}
    beside = path.with_name(f"{path.name}.new")
    with suppress(OSError):  # nobody is left who could be told
        write_new(beside, [with_outcome(path.read_bytes(), outcome)])
        beside.replace(path)


def newest_undo(
    directory: Path | None, cluster_id: str | None, *, of_settings: bool = False
) -> tuple[Path, WriteFile]:
    """The undo file of a cluster that was written last; files that cannot be read are passed over.

    Args:
        of_settings: one of configurations, or else one of offsets.
    Raises:
        NotFoundError: there is none.
    """
    names = sorted(directory.glob("undo-*.json"), reverse=True) if directory is not None else []
    for path in names:
        with suppress(UsageError):
            undo = load_undo(path, of_settings=of_settings)
            if undo.cluster_id == cluster_id:
                return path, undo
    raise NotFoundError(
        f"there is no undo file of this cluster in `{directory}`",
        hint="name one: --undo FILE; `kgroups audit` shows those of former writes",
    )


def load_undo(path: Path, *, of_settings: bool = False) -> WriteFile:
    """Contents of an undo file.

    Args:
        of_settings: it has to be one of configurations, or else one of offsets.
    Raises:
        UsageError: it cannot be read, is none, or is one of the other kind.
    """
    undo = load(path, UNDO)
    if (undo.command == "config") != of_settings:
        what, command = ("offsets", "reset-offsets")
        if not of_settings:
            what, command = ("group configurations", "config GROUP")
        raise UsageError(
            f"`{path}` is an undo file of {what}", hint=f"use `kgroups {command} --undo FILE`"
        )
    return undo


def load(path: Path, schema: Schema) -> WriteFile:
    """Contents of an undo file, or of a saved plan.

    Raises:
        UsageError: it cannot be read, or is none; a plan was edited since.
    """
    with regular_file(path, MAX_BYTES, KINDS[schema].name) as file:
        return read_file(file, str(path), schema)
