"""A saved plan as text, and back: the cluster, the topics' ids, the rows, and a checksum of all."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from kgroups.core.errors import RefusedError, UsageError
from kgroups.core.imports.orjson_import import orjson
from kgroups.core.input_files.row_lines import (
    MAX_BYTES,
    RowFile,
    WrongFile,
    check_keys,
    is_name,
    shown,
    topic_ids_of,
)
from kgroups.core.offsets.undo_rows import Bounds
from kgroups.core.saved_plans.plan_rows import COMMANDS, Row, held_in, read_rows, written

SCHEMA: Final = "kgroups.saved-plan/2"

_HEAD: Final = ("schema", "command", "cluster_id", "created_at", "topic_ids")
_TAIL: Final = frozenset({"checksum"})


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """What a command would do, and what it found there.

    Args:
        command: its name, one of `COMMANDS`.
        cluster_id: of the cluster that would be written to; None if it has none.
        created_at: the time, as text.
        rows: what is planned; all of the kind of the command.
        topic_ids: of their topics; those that are not known are absent.
    """

    command: str
    cluster_id: str | None
    created_at: str
    rows: Sequence[Row]
    topic_ids: Mapping[str, str] = field(default_factory=dict)

    def check_cluster(self, cluster_id: str | None) -> None:
        """See that this is the cluster that the plan is for.

        Raises:
            RefusedError: it is another one.
        """
        if cluster_id != self.cluster_id:
            raise RefusedError(
                f"the plan is for cluster `{self.cluster_id}`, this is `{cluster_id}`",
                hint="name the cluster that it was made on with -b",
                code="CLUSTER_MISMATCH",
            )


class _Checksum:
    """Over the head and the rows, whatever the layout of the JSON."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        self._sum = hashlib.sha256()
        self.add(head)

    def add(self, value: Any) -> None:
        """Take in one more object."""
        self._sum.update(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))

    @property
    def text(self) -> str:
        """What stands in the file."""
        return f"sha256:{self._sum.hexdigest()}"


def plan_lines(plan: SavedPlan) -> Iterator[str]:
    """The file of a plan, a row a line; of commits, a group a line.

    Raises:
        UsageError: it would be longer than any file that is read.
    """
    head = {
        "schema": SCHEMA,
        "command": plan.command,
        "cluster_id": plan.cluster_id,
        "created_at": plan.created_at,
        "topic_ids": dict(plan.topic_ids),
    }
    checksum = _Checksum(head)
    bounds, size = Bounds(), 0
    text = orjson.dumps(head).decode()
    yield f'{text[:-1]}, "rows": [\n'
    end = ""
    for row in plan.rows:
        for fields in written(row):
            checksum.add(fields)
            line = orjson.dumps(fields).decode()
            yield f"{end}{line}"
            end = ",\n"
            size += len(line.encode()) + len(end)
            if not bounds.hold(held_in(fields)) or len(text) + size + 1_000 > MAX_BYTES:
                raise UsageError(
                    "the plan is too large to be read back", hint="plan fewer groups at a time"
                )
    yield f'\n], "checksum": "{checksum.text}"}}\n'


def read_plan(file: BinaryIO, where: str) -> SavedPlan:
    """What a saved plan says.

    Args:
        file: from its start; it can be wound back.
        where: its name, for messages.
    Raises:
        UsageError: it is no saved plan, or was edited since.
    """
    try:
        return _read(file)
    except WrongFile as wrong:
        raise UsageError(
            f"`{where}` is not a saved plan: {wrong}",
            hint="`--dry-run --plan FILE` saves one",
        ) from wrong


def _read(file: BinaryIO) -> SavedPlan:
    parts = RowFile(file, _TAIL)
    head = parts.head
    if head.get("schema") != SCHEMA:
        raise WrongFile(f"its `schema` is {shown(head.get('schema'))}")
    check_keys(head, frozenset(_HEAD))
    for name, optional in (("cluster_id", True), ("created_at", False)):
        if not (is_name(head[name]) or (optional and head[name] is None)):
            raise WrongFile(f"its `{name}` is {shown(head[name])}")
    command = head["command"]
    if type(command) is not str or command not in COMMANDS:
        raise WrongFile(f"its `command` is {shown(command)}")
    ids = topic_ids_of(head["topic_ids"])
    checksum = _Checksum(head)

    def summed() -> Iterator[Any]:
        for fields in parts.rows():
            yield fields
            checksum.add(fields)  # by now it is known to be a row

    rows = read_rows(command, summed())
    check_keys(parts.tail, _TAIL)
    if parts.tail["checksum"] != checksum.text:
        raise WrongFile("it was changed since it was saved: its checksum does not match")
    return SavedPlan(command, head["cluster_id"], head["created_at"], rows, ids)
