"""Looks at a group's offsets from captures (`lag collect`), by Arrow alone."""

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.lag.captures.capture_window import Window, open_window
from kgroups.core.lag.captures.delta_table import DATE, rows_in
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.stores import places
from kgroups.core.simulation.live.measured_load import Look, Place

COLUMNS = ("topic", "partition", "log_end_offset", "committed_offset", "member_id")


def captured_looks(
    folder: places.Place, group: str, cluster: str, *, since_ms: int, until_ms: int
) -> list[Look]:
    """Every capture of a group in a window of time, first to last.

    Args:
        cluster: which of the captured clusters; where there is only one it is that.
        since_ms, until_ms: both included.
    Raises:
        NotFoundError: no captures in the window, or fewer than two with this group.
        UsageError: captures of several clusters, and of none of this name.
        KgroupsError: a table cannot be read.
    """
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms)
    chosen = _cluster(window, cluster)
    files = [file for file in window.files if file.cluster == chosen]
    looks: dict[int, dict[tuple[str, int], Place]] = {}
    for batch in rows_in(files, arrow_schema("rows").append(DATE)):
        rows = pa.Table.from_batches([batch])
        rows = rows.filter(pc.equal(rows["group"], group))
        for row in rows.select(["captured_at_ms", *COLUMNS]).to_pylist():
            at_ms = row["captured_at_ms"]
            if since_ms <= at_ms <= until_ms:
                topic, partition, end, committed, owner = (row[name] for name in COLUMNS)
                looks.setdefault(at_ms, {})[topic, partition] = Place(end, committed, owner)
    if len(looks) < 2:
        raise NotFoundError(
            f"`{group}` is in {len(looks)} captures of the window; rates require two",
            hint="choose a longer window with --over",
        )
    return [Look(at_ms, looks[at_ms]) for at_ms in sorted(looks)]


def _cluster(window: Window, cluster: str) -> str:
    names = sorted(window.spans)
    if cluster in names or len(names) == 1:
        return cluster if cluster in names else names[0]
    raise UsageError(
        f"there are captures of {len(names)} clusters, none of them of `{cluster}`",
        hint=f"captured: {', '.join(names)}",
    )
