"""What users install: the wheel, its exact contents, and that it works without this checkout."""

import shlex
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.core.extras import MODULES, Extra
from kgroups.core.release import VERSION
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.installs.built import ROOT, build
from tests.support.installs.environments import Environment, environment_of
from tests.support.kafka.child import run_program

PACKAGES = ("assignors", "core", "cli", "completions", "public")
# Beside modules, the wheel carries these.
DATA = {"py.typed", ".json", ".yaml", ".css", ".sql", ".js", ".bash", ".zsh", ".fish", ".txt"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the checkout."""
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def test_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    """Each module and data file of the packages, under `kgroups/`, and the metadata."""
    expected = {
        f"kgroups/{path.relative_to(ROOT).as_posix()}".replace("kgroups/public/", "kgroups/")
        for top in PACKAGES
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if path.suffix == ".py" or path.name in DATA or path.suffix in DATA
    }
    place = f"kgroups-{VERSION}.data/data/share/man/man1"
    expected |= {f"{place}/{path.name}" for path in (ROOT / "man").iterdir()}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == expected


def test_wheel_passes_the_wheel_checker(wheel: Path) -> None:
    """No stray top-level name, no duplicate, nothing misplaced."""
    done = run_program([sys.executable, "-m", "check_wheel_contents", str(wheel)])
    assert done.returncode == 0, done.stdout + done.stderr


MOST_MEBIBYTES = 160
HEAVY = (
    "pyspark",
    "py4j",
    "pandas",
    "pyarrow",
    "deltalake",
    "altair",
    "vl_convert",
    "grpc",
    "pip",
    "optuna",
)


@pytest.fixture(scope="module")
def small(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The installation without extras."""
    return environment_of(wheel, tmp_path_factory.mktemp("small") / "venv")


@pytest.fixture(scope="module")
def collecting(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The installation of a host that collects."""
    return environment_of(wheel, tmp_path_factory.mktemp("collecting") / "venv", ["collect"])


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cluster, a snapshot file and a folder, by their words in the lines below."""
    folder = tmp_path_factory.mktemp("places")
    write_snapshot(clusters.shop(), folder / "shop.json")
    with Sandbox(brokers=1, topics={"orders": 2}, snapshot=folder / "shop.json") as cluster:
        yield {
            "CLUSTER": cluster.bootstrap_servers,
            "FILE": str(folder / "shop.json"),
            "DIR": str(folder / "captures"),
        }


@pytest.mark.slow("installs the wheel; what it holds is in every run")
def test_small_installation_is_small(small: Environment) -> None:
    """What operators need, and no Spark, Arrow, pandas, charts or Java bridge."""
    assert small.mebibytes() <= MOST_MEBIBYTES
    assert small.can_import(*HEAVY) == []


@pytest.mark.slow("installs the wheel; what it holds is in every run")
@pytest.mark.parametrize(
    "line",
    [
        "list -b CLUSTER",
        "list -b CLUSTER --lag-time -o json",
        "describe --all-groups -b CLUSTER -o yaml",
        "describe billing --members --from FILE",
        "plan billing --add-members 1 --metrics --from FILE",
        "check billing --fail-on 'lag > 10M' --from FILE -o json",
        "reset-offsets 'audit réports, nightly' --to earliest --all-topics --dry-run -b CLUSTER",
        "official --list --bootstrap-server CLUSTER",
    ],
)
def test_operators_need_no_extra(
    line: str, small: Environment, places: dict[str, str], tmp_path: Path
) -> None:
    """Looking, planning, checking and writing work on the small installation."""
    words = [places.get(word, word) for word in shlex.split(line)]
    code, stdout, stderr = small.run(*words, cwd=tmp_path)
    assert (code, "error" in stderr) == (0, False), stderr
    assert stdout


@pytest.mark.slow("installs the wheel; what it holds is in every run")
@pytest.mark.parametrize(
    ("line", "what", "extra"),
    [
        ("lag report --from FILE", "`lag report`", "spark"),
        ("lag history -b CLUSTER", "`lag history`", "spark"),
        ("lag collect DIR -b CLUSTER", "`lag collect`", "collect"),
        ("lag compact DIR", "`lag compact`", "collect"),
        ("plan --all-groups --report --from FILE", "`plan --report`", "spark"),
        ("simulate --from-group billing --from FILE --html a.html", "`--html`", "html"),
        (
            "simulate --from-group billing --from FILE --search members=2..4 --minimise unowned",
            "`simulate --search`",
            "search",
        ),
        (
            "simulate --from-group billing --from FILE --master local[1]",
            "`simulate --master`",
            "spark",
        ),
        ("demo --spark", "`demo --spark`", "spark"),
    ],
)
def test_a_missing_extra_is_named(
    line: str, what: str, extra: Extra, small: Environment, places: dict[str, str], tmp_path: Path
) -> None:
    """With the command that installs it, before anything is asked or written."""
    words = [places.get(word, word) for word in line.split()]
    assert small.run(*words, cwd=tmp_path) == (
        2,
        "",
        f"error: {what} requires the extra `{extra}` of kgroups, which is not installed\n\n"
        f"hint: `pip install 'kgroups[{extra}]'`\n",
    )


@pytest.mark.slow("installs the wheel; what it holds is in every run")
def test_the_collector_alone(
    collecting: Environment, places: dict[str, str], tmp_path: Path
) -> None:
    """It writes captures without Spark, pandas and Java; reports need the other extra."""
    assert collecting.can_import(*HEAVY) == ["pyarrow", "deltalake"]
    code, stdout, stderr = collecting.run(
        "lag", "collect", str(tmp_path / "captures"), "-b", places["CLUSTER"], cwd=tmp_path
    )
    assert (code, stderr) == (0, "")
    assert "done" in stdout
    assert list((tmp_path / "captures").rglob("*.parquet"))
    code, _, stderr = collecting.run("lag", "report", "--from", places["FILE"], cwd=tmp_path)
    assert (code, stderr.count("kgroups[spark]")) == (2, 1)


def metadata_of(wheel: Path) -> list[str]:
    """The lines of its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return archive.read(name).decode().splitlines()


def test_every_extra_brings_what_is_looked_for(wheel: Path) -> None:
    """The table of modules names what the package's metadata require."""
    lines = metadata_of(wheel)
    provided = {line.removeprefix("Provides-Extra: ") for line in lines if "Provides-Ex" in line}
    assert provided == {*MODULES, "all", "dev"}
    for extra, modules in MODULES.items():
        required = " ".join(line for line in lines if line.endswith(f'; extra == "{extra}"'))
        assert all(module.replace("_", "-") in required for module in modules), required


@pytest.mark.slow("installs the wheel; what it holds is in every run")
def test_all_extras_but_the_one_that_takes_a_compiler(wheel: Path) -> None:
    """`kgroups[all]` has to install everywhere; the page that lists the extras says so."""
    (line,) = (each for each in metadata_of(wheel) if each.endswith('; extra == "all"'))
    extras = line.partition("[")[2].partition("]")[0].split(",")
    assert sorted(extras) == sorted(MODULES.keys() - {"kerberos"})
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert "| `kgroups[all]` | all of these but `kerberos`, which takes a compiler |" in page
