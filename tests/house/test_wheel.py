"""What users install: the wheel, its exact contents, and that it works without this checkout."""

import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]
PACKAGES = ("assignors", "core", "cli", "completions")
# Beside modules, the wheel carries these.
DATA = {"py.typed", ".json", ".yaml", ".css", ".js", ".bash", ".zsh", ".fish", ".txt"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the tracked and new files, as a release would be."""
    source = tmp_path_factory.mktemp("source")
    out = tmp_path_factory.mktemp("wheel")
    listed = run_program(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        origin, target = ROOT / name, source / name
        if origin.is_file() and not name.startswith(("tests/", "typings/", "bench/")):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(origin.read_bytes())
    run_program(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), "."],
        cwd=source,
        check=True,
    )
    (built,) = out.glob("*.whl")
    return built


def test_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    """Each module and data file of the packages, under `kgroups/`, and the metadata."""
    expected = {
        f"kgroups/{path.relative_to(ROOT).as_posix()}"
        for top in PACKAGES
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if path.suffix == ".py" or path.name in DATA or path.suffix in DATA
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == expected


def test_wheel_passes_the_wheel_checker(wheel: Path) -> None:
    """No stray top-level name, no duplicate, nothing misplaced."""
    done = run_program([sys.executable, "-m", "check_wheel_contents", str(wheel)])
    assert done.returncode == 0, done.stdout + done.stderr


def test_wheel_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """Unpacked elsewhere and run from there, `python -m kgroups.cli` answers from the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f)];"
        f"sys.path.insert(0, {str(tmp_path)!r});"
        "import kgroups.cli.app as app; print(app.__file__); sys.argv = ['kgroups', 'coordinator',"
        " 'orders-app', '--partitions', '50', '-o', 'csv']; app.main()"
    )
    done = run_program([sys.executable, "-c", program], cwd=tmp_path)
    where, _, table = done.stdout.partition("\n")
    assert Path(where).is_relative_to(tmp_path), done.stderr
    assert "orders-app,772757305,5" in table
