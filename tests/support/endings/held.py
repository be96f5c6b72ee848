"""What holds however the program ends: no traceback, no secret, nothing lost, nothing claimed."""

import json
from typing import Any, Final

from tests.support.endings.lines import Line
from tests.support.endings.program import Ending
from tests.support.endings.world import SECRET, Place, State, World

OURS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 74, 129, 130, 143)
"""Every exit code but the one of a bug."""

NOISE: Final = (
    "Traceback (most recent call last)",
    "Exception ignored",
    "error: a bug in kgroups",
    "Fatal Python error",
    "was never retrieved",
    "was destroyed but it is pending",
    "was never awaited",
    "ResourceWarning",
    "--- Logging error ---",
)
DONE: Final = {"done": "new", "unknown": "old or new", "failed": "old or new"}
"""What a result says of the cluster; the others say that all is as it was."""


def check_words(ending: Ending, place: Place) -> None:
    """No bug, no noise, and the password nowhere but in the client's configuration."""
    assert ending.code in OURS, ending
    for text in (ending.stdout, ending.stderr):
        words = text.decode(errors="replace")
        assert not [noise for noise in NOISE if noise in words], ending
        assert SECRET not in words, ending
    for file in place.folder.rglob("*"):
        if file.is_file() and file.name not in ("client.properties", "config.yaml"):
            assert SECRET.encode() not in file.read_bytes(), file


def check_writes(world: World, line: Line, place: Place, ending: Ending) -> None:
    """The cluster holds what was said, and the undo file what was replaced.

    Each commit is the old or the new one. What a complete document claims is true. Where something
    was changed, the file that puts it back is there.
    """
    if not place.old:
        return
    state = world.state(place)
    changed = {at for at, offset in state.items() if offset != place.old[at]}
    assert {at: state[at] for at in changed} == {at: place.new[at] for at in changed}, ending
    if ending.code in (0, 74):
        assert changed == {at for at in state if place.old[at] != place.new[at]}, ending
    document = document_of(ending)
    if document is not None:
        for item in document["items"]:
            check_claim(item, state, place)
    if line.writes == "offsets" and line.of != "--delete-offsets" and changed:
        held = undo_rows(place)
        assert {at: held.get(at, "nothing") for at in changed} == {
            at: place.old[at] for at in changed
        }, ending


def check_claim(item: dict[str, Any], state: State, place: Place) -> None:
    """What one row says of the cluster is true."""
    truth = DONE.get(item["result"], "old")
    group = item.get("group", "")
    rows = [at for at in state if at[0] == group]
    if "member_id" in item:
        rows = [at for at in rows if at[1] == item["member_id"]]
    if item.get("topic") is not None:
        rows = [at for at in rows if at[1:] == (item["topic"], item["partition"])]
    for at in rows:
        allowed = {"new": (place.new[at],), "old": (place.old[at],)}.get(
            truth, (place.old[at], place.new[at])
        )
        assert state[at] in allowed, (item, state)


def document_of(ending: Ending) -> dict[str, Any] | None:
    """The document on stdout, if it is there as a whole."""
    try:
        document = json.loads(ending.stdout)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def undo_rows(place: Place) -> dict[tuple[str, str, int], int | None]:
    """What the undo files of a place put back where."""
    return {
        (row["group"], topic, number): offset
        for file in place.undo_files
        for row in json.loads(file.read_text(encoding="utf-8"))["rows"]
        for topic, columns in row["commits"].items()
        for number, offset in zip(columns["partition"], columns["offset"], strict=True)
    }


def errors_in(ending: Ending) -> list[str]:
    """The `error:` lines that were said."""
    return [line for line in ending.said.splitlines() if line.lower().startswith("error: ")]
