"""What is said as `note:` on stderr is data, too. `run` holds every document to its stderr."""

import re
from pathlib import Path
from typing import Final

import pytest

from kgroups.cli.meanings.note_codes import NOTE_CODES
from tests.support.cli.runner import check_notes, run

CODE: Final = Path(__file__).parents[3] / "cli"
SHOP: Final = ("--from", "shop.json")


def test_every_code_is_explained() -> None:
    """And no code that is never said."""
    used: set[str] = set()
    for path in CODE.rglob("*.py"):
        used |= set(re.findall(r'(?:\bNote|\.note)\(\s*"([A-Z_]+)"', path.read_text()))
    assert used == NOTE_CODES.keys()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "code", "target"),
    [
        (("list", "nothing-like-it", *SHOP), "NO_GROUP_MATCHES", None),
        (("list", "--where", "lag > 10", *SHOP), "GROUPS_LEFT_OUT", None),
        (("describe", "--all-groups", *SHOP), "REBALANCING", "shipping"),
        (("context", "list"), "NO_CONTEXTS", "nowhere.yaml"),
        (("simulate", "--from-group", "billing", "--quiet", *SHOP), "ASSUMED", None),
    ],
)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_notes_in_documents(
    words: tuple[str, ...], code: str, target: str | None, form: str
) -> None:
    """With a code, the words, and what they are about."""
    outcome = run(*words, "-o", form, env={"KGROUPS_CONFIG": "nowhere.yaml"})
    if form == "yaml":
        assert f"code: {code}" in outcome.stdout
        return
    assert (code, target) in {(n["code"], n["target"]) for n in outcome.document["notes"]}


@pytest.mark.usefixtures("files")
def test_a_failure_has_what_was_said_before() -> None:
    """Notes that came before it are in its document."""
    outcome = run("simulate", "deploy.yaml", "--html", "no/folder.html", "-o", "json")
    assert outcome.exit_code == 2
    check_notes(outcome.document, outcome.stderr)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_snapshot_that_was_shown_is_one(form: str) -> None:
    """Its document is read as a file, with its notes."""
    Path(f"again.{form}").write_text(run("snapshot", "show", "shop.json", "-o", form).stdout)
    assert run("list", "--from", f"again.{form}") == run("list", *SHOP)


def test_the_check_of_notes_can_fail() -> None:
    """A note that is told and not kept is found."""
    with pytest.raises(AssertionError):
        check_notes({"notes": []}, "note: left out\n")
