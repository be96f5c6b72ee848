"""The JSON file of kafka-delete-records.sh, read in our own grammar."""

from pathlib import Path

from tests.support.cli.runner import run


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    """Before any broker is asked; the hint shows what is expected."""
    path = tmp_path / "offsets.json"
    path.write_text('{"partitions": [\n  {"topic": "t", "partition": 0 "offset": 5}\n]}\n')
    outcome = run("delete-records", "-b", "localhost:1", "--before", f"file:{path}", "--yes")
    assert outcome.exit_code == 2
    assert f"error: `{path}`, line 2: not JSON: Expecting ',' delimiter" in outcome.stderr
    assert 'hint: expected `{"partitions": [{"topic": "orders"' in outcome.stderr
