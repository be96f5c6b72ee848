"""Both tools' output as values that can be compared: speed is never bought with wrong answers."""

import json
import re

# group, topic, partition, committed offset, log end offset, lag
OffsetRow = tuple[str, str, int, int, int, int]


def official_offsets(text: str) -> list[OffsetRow]:
    """Rows of the official describe, sorted; every row of the bench has all numbers."""
    cells = (line.split() for line in text.splitlines())
    rows = (row for row in cells if row and row[0] != "GROUP")
    return sorted(
        (row[0], row[1], int(row[2]), int(row[3]), int(row[4]), int(row[5])) for row in rows
    )


def json_offsets(text: str) -> list[OffsetRow]:
    """Rows of our describe as JSON, sorted."""
    return sorted(
        (
            item["group"],
            row["topic"],
            row["partition"],
            row["committed_offset"],
            row["log_end_offset"],
            row["lag"],
        )
        for item in json.loads(text)["items"]
        for row in item["offsets"]
    )


def describe_json(ours: str, official: str) -> tuple[object, object]:
    """Every offset row of both."""
    return json_offsets(ours), official_offsets(official)


def describe_table(ours: str, official: str) -> tuple[object, object]:
    """Offsets and lags of both tables, whatever else the rows say."""
    mine = sorted(
        (cells[0], *(int(cell) for cell in cells[2:6]))
        for cells in (line.split() for line in ours.splitlines())
        if len(cells) > 5 and cells[0].startswith("group-")
    )
    theirs = sorted((row[0], *row[2:6]) for row in official_offsets(official))
    return mine, theirs


def list_names(ours: str, official: str) -> tuple[object, object]:
    """Names of all groups."""
    mine = {line.split()[0] for line in ours.splitlines() if line.startswith("group-")}
    return mine, set(official.split())


def reset_rows(ours: str, official: str) -> tuple[object, object]:
    """New offset of every partition: ours stands before the lag, official last."""
    heading, *rows = (line.split() for line in ours.splitlines())
    at = heading.index("NEW")
    mine = {(row[0], row[1], int(row[2])): int(row[at]) for row in rows}
    told = (line.split() for line in official.splitlines())
    theirs = {
        (row[0], row[1], int(row[2])): int(row[3]) for row in told if row and row[0] != "GROUP"
    }
    return mine, theirs


def deleted_names(ours: str, official: str) -> tuple[object, object]:
    """Names of the groups that are gone: a table here, a sentence there."""
    mine = {line.split()[0] for line in ours.splitlines() if line.split()[2:3] == ["done"]}
    return mine, set(re.findall(r"'([^']+)'", official))
