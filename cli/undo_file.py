"""Where the undo file of a write goes, and the writing of it: on disk before anything else is."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from kgroups.cli.output import timestamp
from kgroups.cli.source import now_ms
from kgroups.core.errors import UsageError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.undo import undo_text, with_outcome


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
    directory: Path, planned: Iterable[Change], *, cluster_id: str | None, hint: str
) -> Path:
    """Write what is about to be replaced; the path of the file, which is on disk then.

    Args:
        directory: made if it is not there.
        planned: the changes.
        cluster_id: of the cluster that is written to.
        hint: what to do where the file cannot be written.
    Raises:
        UsageError: the file cannot be written, so nothing else may be.
    """
    created_at = timestamp(now_ms())
    text = undo_text(planned, cluster_id=cluster_id, created_at=created_at)
    stamp = created_at.translate(str.maketrans("", "", "-:."))
    path = directory / f"undo-{stamp}-{os.getpid()}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _write_new(path, text)
    except OSError as error:
        raise UsageError(
            f"the undo file `{path}` cannot be written: {error.strerror}, so nothing was changed",
            hint=hint,
        ) from error
    return path


def add_outcome(path: Path, results: Mapping[str, int]) -> None:
    """Write into an undo file what became of its write, where that could not be printed.

    Args:
        path: of the file, which is replaced as a whole or not at all.
        results: how many changes had which result.
    """
    outcome = {"at": timestamp(now_ms()), **results}
    beside = path.with_name(f"{path.name}.new")
    with suppress(OSError):  # nobody is left who could be told
        _write_new(beside, with_outcome(path.read_text(encoding="utf-8"), outcome))
        beside.replace(path)


def _write_new(path: Path, text: str) -> None:
    """Write a file that was not there, for us alone; on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
