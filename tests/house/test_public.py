"""The names that programs may count on."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from kgroups import Cluster, RefusedError
from kgroups.sandbox import Sandbox
from scripts.docs import PUBLIC
from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]
# A name that goes, goes from here too, and only with a major version.
NAMES: dict[str, list[str]] = json.loads(
    (ROOT / "tests/data/public_names.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", PUBLIC)
def test_names_stay(module: str) -> None:
    """Each that was there once is there and in the documents; a new one is added to the list."""
    given = import_module(module)
    assert sorted(given.__all__) == NAMES[module]
    assert all(getattr(given, name) is not None for name in given.__all__)
    with pytest.raises(AttributeError):
        given.no_such_name  # noqa: B018


@pytest.mark.parametrize("page", ["library.md", "spark.md"])
def test_the_guides_need_nothing_private(page: str) -> None:
    """Every import of the examples is of a public name."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r"^from (kgroups[\w.]*) import (\([^)]*\)|[^\n]*)", text, re.MULTILINE)
    assert found
    for module, names in found:
        assert {*re.findall(r"\w+", names)} <= {*NAMES[module]}


def test_the_package_itself_imports_next_to_nothing() -> None:
    """Its names are imported when they are asked for: the command line starts with it."""
    program = "import sys, kgroups; print(*(m for m in sys.modules if m.startswith('kgroups')))"
    done = run_program([sys.executable, "-c", program], check=True)
    assert done.stdout.split() == ["kgroups"]


def test_a_cluster_is_opened_read_only() -> None:
    """Unless it is asked for otherwise."""
    with Sandbox(brokers=1) as sandbox:
        with Cluster(sandbox.bootstrap_servers) as cluster:
            assert cluster.snapshot().groups == ()
            with pytest.raises(RefusedError, match="read-only"):
                cluster.delete_groups(["billing"])
        with Cluster(
            properties={"bootstrap.servers": sandbox.bootstrap_servers}, read_only=False
        ) as cluster:
            (outcome,) = cluster.delete_groups(["billing"])
            assert outcome.error is not None
            assert outcome.error.code == "GROUP_ID_NOT_FOUND"


def test_one_module_of_the_assignors_imports_no_other() -> None:
    """`from kgroups.assignors import wire` pays for that module alone."""
    code = "import sys; from kgroups.assignors import wire; print(*sys.modules)"
    done = run_program([sys.executable, "-c", code], check=True)
    assert "kgroups.assignors.wire" in done.stdout.split()
    assert "kgroups.assignors.public" not in done.stdout.split()
