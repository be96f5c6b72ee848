#!/usr/bin/env python3
"""Writes what follows from the command tree: README's table of commands, and completions/.

scripts/docs.py table         README.md between its markers `commands`, `deviations` and `tasks`
scripts/docs.py completions   completions/kgroups.{bash,zsh,fish}
scripts/docs.py check         writes nothing; fails if a file is not up to date
"""

import sys
from pathlib import Path
from typing import get_args

from typer.main import get_command

from kgroups.cli.app import program
from kgroups.cli.completions import Shell, places_of, script_for
from kgroups.cli.official.deviations import DEVIATIONS
from kgroups.cli.official.tasks import TASKS

ROOT = Path(__file__).parents[1]
BLOCKS = ("commands", "deviations", "tasks")


def commands_table() -> str:
    """README's table: a row for each command, with its options and what it does."""
    tree = get_command(program())
    rows = ["| command | does | options |", "|---|---|---|"]
    for place in places_of(tree):
        if place.commands:
            continue
        command = tree
        for word in place.path.split():
            command = command.commands[word]  # type: ignore[attr-defined]
        arguments = " ".join(
            str(param.metavar).strip("{}")
            for param in command.params
            if param.param_type_name == "argument"
        )
        flags = " ".join(
            f"`{option.flags[0]}`" for option in place.options if option.flags != ("--help",)
        )
        name = f"{place.path} {arguments}".strip().replace("|", "\\|")
        rows.append(f"| `{name}` | {command.get_short_help_str(200).rstrip('.')} | {flags} |")
    return "\n".join(rows)


def deviations_table() -> str:
    """README's table of what the official grammar does otherwise."""
    rows = ["| Kafka's tools | kgroups |", "|---|---|"]
    return "\n".join([*rows, *(f"| {row.official} | {row.ours} |" for row in DEVIATIONS)])


def tasks_table() -> str:
    """README's table of both grammars side by side."""
    rows = [
        "| task | `kafka-consumer-groups.sh --bootstrap-server B …`, or "
        "`kgroups --bootstrap-server B …` | our own words, `kgroups -b B …` |",
        "|---|---|---|",
    ]
    for task in TASKS:
        cells = (f"`{text}`" if text else "" for text in (task.official, task.ours))
        rows.append(f"| {task.what} | {' | '.join(cells)} |")
    return "\n".join(rows)


def replaced(text: str, name: str, block: str) -> str:
    """The text with another block between the markers of this name."""
    begin_mark, end_mark = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, begin, rest = text.partition(begin_mark)
    _, end, tail = rest.partition(end_mark)
    if not (begin and end):
        sys.exit(f"error: README.md has no block {begin_mark} … {end_mark}")
    return f"{head}{begin}\n{block}\n{end}{tail}"


def outputs() -> dict[Path, str]:
    """Every generated file with its text."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, block in zip(
        BLOCKS, (commands_table(), deviations_table(), tasks_table()), strict=True
    ):
        readme = replaced(readme, name, block)
    tree = get_command(program())
    files = {ROOT / "README.md": readme}
    for shell in get_args(Shell):
        files[ROOT / "completions" / f"kgroups.{shell}"] = script_for(shell, tree)
    return files


def main(what: str) -> int:
    """Write the files that `what` names, or check all of them."""
    stale = []
    for path, text in outputs().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if what == "check":
            stale.append(str(path.relative_to(ROOT)))
        elif (path.name == "README.md") == (what == "table"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    if stale:
        print(f"not up to date: {', '.join(stale)}; run `make docs completions`")
    return 1 if stale else 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("table", "completions", "check"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
