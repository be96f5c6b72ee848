"""Files in the user's cache folder."""

from pathlib import Path

import pytest

from kgroups.core.input_files.files import default_cache_dir, kept_text


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The XDG folder where it is set, else the one in the home folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / "kgroups"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache_dir() == Path.home() / ".cache" / "kgroups"


def test_a_text_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Line ends as they were; what is not whole, or no text, is made anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[int] = []

    def make() -> str:
        made.append(len(made))
        return "one\r\ntwo\N{SNOWMAN}"

    assert [kept_text("text", make) for _ in range(3)] == [make()] * 3
    assert made == [0, 1]
    (file,) = (tmp_path / "kgroups").iterdir()
    whole = file.read_bytes()
    for broken in (whole[:-1], b"", b"\xff"):
        file.write_bytes(broken)
        assert kept_text("text", make) == "one\r\ntwo\N{SNOWMAN}"
        assert file.read_bytes() == whole
    assert len(made) == 5


def test_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is made each time."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert kept_text("text", lambda: "one") == "one"
    assert kept_text("text", lambda: "two") == "two"
