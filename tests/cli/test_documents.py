"""README and docs/ show what the program really prints."""

import re
import shlex
from pathlib import Path

import pytest

from kgroups.cli.official.arguments import parse
from kgroups.cli.official.dispatch import official_arguments
from kgroups.cli.official.tools import CONSUMER_TOOL, RECORDS_TOOL
from kgroups.cli.write_files import save_undo
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import commit_rows
from scripts.incident import write_incident
from scripts.official_tasks import TASKS, Task
from tests.support.cli.command_tree import command_paths
from tests.support.cli.process import finish
from tests.support.cli.runner import run

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
README_LINES = 200
TEXT = "\n".join(PAGES.values())


def sessions() -> list[tuple[str, str]]:
    """Command and output of each prompt that runs `kgroups` and shows its output."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("kgroups ") and output.strip():
                found.append((command, output))
    return found


def over_captures(command: str) -> bool:
    """Whether a session is about the incident's captures, which needs Spark."""
    return "--captures" in command


def simulated(command: str) -> bool:
    """Whether a session is about the scenario of a deploy."""
    return "simulate" in command


def of_the_shop(command: str) -> bool:
    """Whether a session is about the groups of the tests' snapshot."""
    return not (over_captures(command) or simulated(command))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("command", "output"), [p for p in sessions() if of_the_shop(p[0])])
def test_session(command: str, output: str) -> None:
    """The shop's snapshot stands in for the cluster of the session."""
    outcome = run(*shlex.split(command)[1:], "--from", "shop.json")
    assert (outcome.exit_code, outcome.stdout.strip()) == (0, output.strip())


@pytest.mark.parametrize(("command", "output"), [p for p in sessions() if simulated(p[0])])
def test_simulation(
    command: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scenarios in docs/simulation.md give the figures beneath them."""
    found = re.findall(r"```yaml\n(# (\w+\.yaml)\n.*?)```", TEXT, re.DOTALL)
    for scenario, name in found:
        (tmp_path / name).write_text(scenario, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    outcome = run(*shlex.split(command)[1:])
    assert (outcome.exit_code, outcome.stdout.strip()) == (0, output.strip())


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the captures of the incident."""
    folder = tmp_path_factory.mktemp("incident")
    write_incident(folder / "captures")
    return folder


@pytest.mark.spark
@pytest.mark.slow("a start of Spark for each; sessions of other commands are in every run")
@pytest.mark.parametrize(
    ("command", "output"), [pair for pair in sessions() if over_captures(pair[0])]
)
def test_sessions_over_captures(
    command: str, output: str, incident: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The incident of `scripts/incident.py` is found as docs/incidents.md shows it."""
    monkeypatch.chdir(incident)
    code, stdout, stderr = finish(*shlex.split(command)[1:])
    assert code == 0, stderr
    assert stdout.strip() == output.strip()


def test_there_are_sessions() -> None:
    """The ones above are not empty."""
    incident = [command for command, _ in sessions() if over_captures(command)]
    assert len(incident) == 2
    assert sum(simulated(command) for command, _ in sessions()) >= 3
    assert sum(of_the_shop(command) for command, _ in sessions()) >= 2


@pytest.mark.parametrize("path", command_paths()[1:], ids=" ".join)
def test_every_command_is_in_the_table(path: tuple[str, ...]) -> None:
    """Each command has a row, or is the first word of one."""
    assert f"| `{' '.join(path)}" in PAGES["README.md"]


@pytest.mark.parametrize("task", [task for task in TASKS if task.ours], ids=lambda task: task.ours)
def test_our_words_are_understood(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of ours gets as far as the cluster, of which there is none: no usage error."""
    monkeypatch.chdir(tmp_path)
    Path("F").write_text("t,0,1\n")
    rows = commit_rows([Change("g", "t", 0)])
    undo = save_undo(Path(), "reset-offsets", rows, cluster_id=None, topic_ids={}, hint="")
    undo.rename("UNDO")
    words = shlex.split(task.ours or "")
    if "--watch" in words:  # it would go on looking
        del words[words.index("--watch") :]
    outcome = run("-b", "127.0.0.1:1", "--timeout", "2s", *words)
    assert outcome.exit_code == 3, outcome.stderr


@pytest.mark.parametrize(
    "task", [task for task in TASKS if task.official], ids=lambda task: task.what
)
def test_official_words_are_understood(task: Task) -> None:
    """Each official line is read by the grammar of its tool."""
    words = shlex.split(task.official or "")
    if words[0] == "kafka-delete-records.sh":
        assert parse(words[1:], RECORDS_TOOL).has("offset-json-file")
    else:
        parse(words, CONSUMER_TOOL)
        assert official_arguments(words, ()) == words


@pytest.mark.parametrize(
    "code", ["0", "1", "2", "3", "4", "5", "6", "70", "74", "129", "130", "143"]
)
def test_every_exit_code_is_explained(code: str) -> None:
    """Each has a row in the table and a place in the program's help."""
    assert f"\n| {code} | " in PAGES["docs/scripting.md"]
    assert re.search(rf"(^|\s){code} +\S", run("--help").stdout)


def test_the_readme_stays_short() -> None:
    """What it is, two commands, a table of commands, links; the rest is in docs/."""
    assert len(PAGES["README.md"].splitlines()) <= README_LINES


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """Each relative link names a file that exists."""
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", PAGES[page])
    local = [link for link in links if "://" not in link]
    missing = [link for link in local if not ((ROOT / page).parent / link).exists()]
    assert missing == []


def test_every_guide_is_linked_from_the_readme() -> None:
    """A guide that nothing leads to is never read."""
    guides = {name for name in PAGES if name != "README.md"}
    assert guides <= set(re.findall(r"\]\((docs/[^)#]+)\)", PAGES["README.md"]))


@pytest.mark.parametrize("path", command_paths(), ids=lambda path: " ".join(path) or "kgroups")
def test_help_fits_a_terminal(path: tuple[str, ...]) -> None:
    """Nothing is wider than 80 columns, and no sentence is cut short."""
    lines = run(*path, "--help").stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines[1:] if line.endswith("...") and not line.endswith("]...")] == []
