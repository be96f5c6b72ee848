#!/usr/bin/env python3
"""Generates what follows from the code: tables in documents, and answers that are ready.

scripts/docs.py tables        blocks between markers: README.md, docs/, READMEs of packages
scripts/docs.py completions   what follows from the command tree: completions/ and man/
scripts/docs.py man           man/: a page for the program and for each command
scripts/docs.py check         writes nothing; fails if a file is out of date
"""

import ast
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from typer.main import get_command

from kgroups.cli.app import program
from kgroups.cli.completion.ready import HELP_FILE, SHELLS, script_file
from kgroups.cli.meanings.findings import FINDING_CODES
from kgroups.cli.meanings.group_states import STATES_OF
from kgroups.cli.nouns import SECTIONS

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))  # it is run as a file, too

from scripts.completion_scripts import places_of, script_for  # noqa: E402
from scripts.document_names import names_table  # noqa: E402
from scripts.man_pages import man_pages  # noqa: E402
from scripts.official_deviations import DEVIATIONS  # noqa: E402
from scripts.official_tasks import TASKS  # noqa: E402
from scripts.scenario_reference import scenario_tables  # noqa: E402

MAN = ROOT / "man"
RELEASES = ROOT / "tests" / "data" / "releases.json"
PRODUCT = ("assignors", "core", "cli")
PUBLIC = (
    "kgroups",
    "kgroups.lag",
    "kgroups.planning",
    "kgroups.assignors",
    "kgroups.coordinator",
    "kgroups.sandbox",
    "kgroups.spark",
)


def commands_table() -> str:
    """README's table: a row for each command with what it does, by section of the help."""
    tree = get_command(program())
    rows = ["| | command | |", "|---|---|---|"]
    sections = {noun: title for title, nouns in SECTIONS.items() for noun in nouns}
    order = list(sections)
    places = [place for place in places_of(tree) if not place.commands]
    for place in sorted(places, key=lambda place: order.index(place.path.split()[0])):
        command = tree
        for word in place.path.split():
            command = command.commands[word]  # type: ignore[attr-defined]
        arguments = " ".join(
            str(param.metavar).strip("{}")
            for param in command.params
            if param.param_type_name == "argument"
        )
        name = f"{place.path} {arguments}".strip().replace("|", "\\|")
        section = sections[place.path.split()[0]]
        rows.append(f"| {section} | `{name}` | {command.get_short_help_str(200).rstrip('.')} |")
    return "\n".join(rows)


def findings_table() -> str:
    """What `doctor` looks for, what it means, and what to do."""
    rows = ["| finding | means | what to do |", "|---|---|---|"]
    found = sorted(FINDING_CODES.items())
    return "\n".join(
        [*rows, *(f"| `{code}` | {text} | {to_do} |" for code, (text, to_do) in found)]
    )


def truth_table() -> str:
    """Faults that real clients caused, and how many of them `doctor` found as what they are."""
    rows = ["| what was done | finding | by members of | found |", "|---|---|---|---:|"]
    causes = json.loads((ROOT / "tests" / "data" / "doctor_truth.json").read_text())
    rows += [
        f"| {cause} | `{row['code']}` | {', '.join(row['libraries'])} "
        f"| {row['found']} of {len(row['libraries'])} |"
        for cause, row in causes.items()
    ]
    return "\n".join(rows)


def scenes_table() -> str:
    """Faults that take a broker of their own, or members that are made for them."""
    rows = ["| what was done | finding |", "|---|---|"]
    scenes = json.loads((ROOT / "tests" / "data" / "doctor_scenes.json").read_text())
    return "\n".join([*rows, *(f"| {done} | `{row['code']}` |" for done, row in scenes.items())])


def deviations_table() -> str:
    """Where the official grammar differs from Kafka's tools on purpose."""
    rows = ["| Kafka's tools | kgroups |", "|---|---|"]
    return "\n".join([*rows, *(f"| {row.official} | {row.ours} |" for row in DEVIATIONS)])


def tasks_table() -> str:
    """Both grammars side by side, by task."""
    rows = [
        "| task | `kafka-consumer-groups.sh --bootstrap-server B …`, or "
        "`kgroups --bootstrap-server B …` | our own words, `kgroups -b B …` |",
        "|---|---|---|",
    ]
    for task in TASKS:
        cells = (f"`{text}`" if text else "" for text in (task.official, task.ours))
        rows.append(f"| {task.what} | {' | '.join(cells)} |")
    return "\n".join(rows)


def states_tables() -> str:
    """Every state of groups and members, a table for each kind."""
    parts = []
    for kind, rows in STATES_OF.items():
        lines = (
            f"| `{state}` | {_sentence(meaning)} | {_sentence(to_do or '')} |"
            for state, (meaning, to_do) in rows.items()
        )
        head = f"## {_sentence(kind.replace('state of', 'states of', 1))}"
        parts.append(
            "\n".join((head, "", "| state | meaning | what to do |", "|---|---|---|", *lines))
        )
    return "\n\n".join(parts)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def modules_table(package: Path) -> str:
    """The modules below a package that no README further down covers, by their docstrings."""
    rows = ["| module | holds |", "|---|---|"]
    covered = {page.parent for page in package.rglob("README.md")} - {package}
    for module in sorted(package.rglob("*.py"), key=lambda path: (len(path.parts), path)):
        if module.name == "__init__.py" or any(room in module.parents for room in covered):
            continue
        first = " ".join(docstring_of(module).split("\n\n")[0].split())
        rows.append(f"| `{module.relative_to(package)}` | {first} |")
    return "\n".join(rows)


def docstring_of(module: Path) -> str:
    """A module's docstring, which is at its start; what follows is not parsed."""
    text = module.read_text(encoding="utf-8")
    end = text.find('"""', 3) + 3 if text.startswith('"""') else len(text)
    return ast.get_docstring(ast.parse(text[:end])) or ""


def package_pages() -> list[Path]:
    """The README of every package of the product that has one."""
    return sorted(page for top in PRODUCT for page in (ROOT / top).rglob("README.md"))


def releases_table() -> str:
    """What `make versions` saw: a row for each command, a column for each release of Kafka."""
    seen = json.loads(RELEASES.read_text(encoding="utf-8"))
    notes: list[str] = []
    rows = [f"| command | {' | '.join(seen)} |", "|---" * (len(seen) + 1) + "|"]
    for row in dict.fromkeys(row for release in seen.values() for row in release["rows"]):
        cells = (_cell(release["rows"].get(row), notes) for release in seen.values())
        rows.append(f"| `{row}` | {' | '.join(cells)} |")
    return "\n".join([*rows, "", *(f"{at}. {note}" for at, note in enumerate(notes, 1))])


def _cell(ending: dict[str, Any] | None, notes: list[str]) -> str:
    """Whether a command works, and the number of the note with what is said."""
    if ending is None:
        return "-"
    if not ending["said"]:
        return "yes"
    said = "; ".join(_sentence(text) for text in ending["said"])
    note = said if not ending["exit"] else f"{said} (exit code {ending['exit']})"
    if note not in notes:
        notes.append(note)
    return f"{'no' if ending['exit'] else 'yes'} [{notes.index(note) + 1}]"


def public_table() -> str:
    """The names that stay, by the module that gives them."""
    rows = ["| import from | about | names |", "|---|---|---|"]
    for module in PUBLIC:
        given = import_module(module)
        about = (given.__doc__ or "").split("\n")[0].rstrip(".")
        names = ", ".join(f"`{name}`" for name in given.__all__)
        rows.append(f"| `{module}` | {about} | {names} |")
    return "\n".join(rows)


BLOCKS: tuple[tuple[str, str, Callable[[], str]], ...] = (
    ("README.md", "commands", commands_table),
    ("docs/doctor.md", "findings", findings_table),
    ("docs/doctor.md", "truth", truth_table),
    ("docs/doctor.md", "scenes", scenes_table),
    ("docs/official-tools.md", "deviations", deviations_table),
    ("docs/official-tools.md", "tasks", tasks_table),
    ("docs/broker-versions.md", "releases", releases_table),
    ("docs/library.md", "public", public_table),
    ("docs/states.md", "states", states_tables),
    ("docs/scenario.md", "keys", scenario_tables),
    ("docs/scripting.md", "names", names_table),
)
"""Page, name of the block's markers, what stands between them."""


def replaced(page: Path, text: str, name: str, block: str) -> str:
    """The text with another block between the markers of this name."""
    begin_mark, end_mark = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, begin, rest = text.partition(begin_mark)
    _, end, tail = rest.partition(end_mark)
    if not (begin and end):
        sys.exit(f"error: {page.name} has no block {begin_mark} … {end_mark}")
    return f"{head}{begin}\n{block}\n{end}{tail}"


def pages() -> dict[Path, str]:
    """Every page that holds a generated block, with its text."""
    texts: dict[Path, str] = {}
    for name, marker, table in BLOCKS:
        page = ROOT / name
        text = texts.get(page) or page.read_text(encoding="utf-8")
        texts[page] = replaced(page, text, marker, table())
    for page in package_pages():
        text = page.read_text(encoding="utf-8")
        texts[page] = replaced(page, text, "modules", modules_table(page.parent))
    return texts


def ready_answers() -> dict[Path, str]:
    """Every answer that is ready, with its text: completion scripts, and the first page of help."""
    tree: Any = get_command(program())
    folder = ROOT / "completions"
    with tree.make_context("kgroups", [], resilient_parsing=True) as ctx:
        page = tree.get_help(ctx) + "\n"
    scripts = {folder / script_file(shell): script_for(shell, tree) for shell in SHELLS}
    return {folder / HELP_FILE: page, **scripts}


def manual() -> dict[Path, str]:
    """Every man page with its text."""
    return {MAN / name: text for name, text in man_pages(get_command(program())).items()}


def main(what: str) -> int:
    """Write the files that `what` names, or check all of them."""
    files = {
        **(pages() if what in ("tables", "check") else {}),
        **(ready_answers() if what in ("completions", "check") else {}),
        **(manual() if what != "tables" else {}),
    }
    stale = [
        path
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    gone = [path for path in MAN.glob("*") if path not in files] if what != "tables" else []
    if what == "check" and (stale or gone):
        names = ", ".join(str(path.relative_to(ROOT)) for path in (*stale, *gone))
        print(f"out of date: {names}; run `make docs completions`")
        return 1
    for path in gone:
        path.unlink()
        print(f"removed {path.relative_to(ROOT)}")
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("tables", "completions", "man", "check"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
