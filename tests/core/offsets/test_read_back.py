"""What is said of writes after a look at the cluster, on paper."""

import pytest

from kgroups.core.errors import ItemError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.read_back import Held, ReadBack, settle
from kgroups.core.offsets.result import RESULTS, Doubt, result_of
from kgroups.core.snapshot import CommittedOffset

LOST = Doubt("g t-0", "NETWORK_EXCEPTION", "not known: gone", None, 3, "gone", in_flight=True)
MOVED = Doubt("g t-0", "NOT_COORDINATOR", "not known: moved", None, 3, "moved", in_flight=False)
REFUSED = Doubt("g t-0", "NON_EMPTY_GROUP", "not known: full", None, 4, "full", in_flight=False)


def change(error: ItemError | None, old: int | None = 10, new: int | None = 40) -> Change:
    """A write of one commit, with its answer."""
    before = None if old is None else CommittedOffset(old)
    after = None if new is None else CommittedOffset(new)
    return Change("g", "t", 0, before, after, result=result_of(error), error=error)


def held(offset: int | None) -> Held:
    """What the group has committed."""
    return {"t": {0: CommittedOffset(offset)}} if offset is not None else {}


@pytest.mark.parametrize(
    ("error", "found", "result", "code"),
    [
        (None, 40, "done", None),
        (None, 10, "failed", "NOT_VERIFIED"),
        (None, 30, "failed", "OVERWRITTEN"),
        (None, None, "failed", "OVERWRITTEN"),
        (LOST, 40, "done", None),
        (LOST, 10, "unknown", "NETWORK_EXCEPTION"),
        (LOST, 30, "failed", "OVERWRITTEN"),
        (MOVED, 40, "done", None),
        (MOVED, 10, "failed", "NOT_COORDINATOR"),
        (REFUSED, 40, "done", None),
        (REFUSED, 10, "refused", "NON_EMPTY_GROUP"),
    ],
)
def test_settled(error: ItemError | None, found: int | None, result: str, code: str | None) -> None:
    """What the cluster shows outweighs every answer but the one that may still be carried out."""
    (row,) = settle([change(error)], {"g": held(found)})
    assert (row.result, None if row.error is None else row.error.code) == (result, code)
    if code in ("NOT_COORDINATOR", "NON_EMPTY_GROUP"):
        assert row.error is not None
        assert not row.error.message.startswith("outcome unknown")


@pytest.mark.parametrize(("error", "result"), [(None, "done"), (LOST, "unknown")])
def test_not_to_be_read(error: ItemError | None, result: str) -> None:
    """An answer holds where nothing can be read back; without one nothing is known."""
    (row,) = settle([change(error)], {})
    assert row.result == result
    assert row.note == (None if error else "written, but could not be read back")


def test_deletions_and_first_commits() -> None:
    """No commit is a state like any other."""
    assert settle([change(LOST, 10, None)], {"g": {}})[0].result == "done"
    assert settle([change(LOST, None, 40)], {"g": {}})[0].result == "unknown"
    assert settle([change(None, None, 0)], {"g": held(0)})[0].result == "done"


def test_others_are_left() -> None:
    """What was refused, failed or skipped is not looked at."""
    rows = [change(ItemError("g", "X", "x", exit_code=code)) for code in (1, 4)]
    rows.append(change(None)._replace(result="skipped"))
    assert settle(rows, {"g": held(40)}) == rows
    assert ReadBack(rows).left == []


def test_which_groups_are_read_again() -> None:
    """Those that could not be read, that show the commit of before, or once something else."""
    back = ReadBack([change(None), change(LOST)._replace(group="h")])
    assert back.left == ["g", "h"]
    assert back.take({"g": held(40), "h": None}) == ["h"]
    assert back.left == ["h"]
    assert back.take({"h": held(10)}) == ["h"]
    assert back.take({"h": held(10)}) == ["h"]
    assert back.take({"h": held(30)}) == ["h"]
    assert back.take({"h": held(31)}) == []
    assert back.take({"h": held(40)}) == []
    assert back.held == {"g": held(40), "h": held(40)}


def test_words() -> None:
    """Every result has its word, and a doubt is a failure of its own kind."""
    assert RESULTS == ("planned", "done", "refused", "failed", "skipped", "unknown")
    assert [result_of(error) for error in (None, LOST, MOVED)] == ["done", "unknown", "unknown"]
    assert result_of(REFUSED.refuted) == "refused"
    assert LOST.refuted is LOST
