"""Files of offsets: what spreadsheets put before them, and lines that are none."""

from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.offsets.plan_file import MAX_LINE, MAX_ROWS, parse_offsets, read_plan_text


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    """Excel writes one; the first topic is not called after it."""
    path = tmp_path / "offsets.csv"
    path.write_bytes(b"\xef\xbb\xbforders,0,5\norders,1,6\n")
    given = parse_offsets(read_plan_text(path), str(path))
    assert given == {None: {("orders", 0): 5, ("orders", 1): 6}}


@pytest.mark.parametrize("number", ["9" * 20, "9" * 5_000, str(2**70), "-1", "1e5", "\u0661"])
def test_numbers_that_are_no_offsets(number: str) -> None:
    """Named with their line, however long they are."""
    with pytest.raises(UsageError, match=r"f\.csv:2: `") as refused:
        parse_offsets(f"t,0,1\nt,1,{number}\n", "f.csv")
    assert len(refused.value.message) < 200


def test_too_many_lines_and_too_long_ones() -> None:
    """Both are refused where they begin to be too much."""
    with pytest.raises(UsageError, match="more than 500,000 lines"):
        parse_offsets("".join(f"t,{n},0\n" for n in range(MAX_ROWS + 1)), "f.csv")
    with pytest.raises(UsageError, match=r"f\.csv:2: longer than"):
        parse_offsets("t,0,1\n" + "," * (MAX_LINE + 1), "f.csv")
