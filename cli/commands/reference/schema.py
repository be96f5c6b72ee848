"""`kgroups schema`: the JSON Schema of a command's document."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Annotated, Any, Final

import typer

from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, plain_view
from kgroups.cli.params import options_of
from kgroups.cli.usage import Texts, argument
from kgroups.core.errors import UsageError, guess

SCHEMA = "kgroups.schema/1"
COMMON: Final = "common"
"""The schema that the other schemas refer to."""
REFERENCE: Final = f"urn:kgroups:schema:{COMMON}:1"

HELP = """Print the JSON Schema of a command's document.

Prints the JSON Schema (draft 2020-12) of what COMMAND prints with --output
json, complete in one file. --output yaml prints it as YAML. Without COMMAND,
lists the documents: some commands have several, and files have schemas too.

EXAMPLES
  kgroups schema describe > describe.schema.json
  kgroups schema lag report
  kgroups schema scenario                      # the file that `plan` reads
  kgroups schema list --query 'properties.items.items.required' -o json
"""

COLUMNS: Final = (
    Column("document", "DOCUMENT"),
    Column("title", "TITLE"),
    Column("id", "ID"),
)


def schema(
    ctx: typer.Context,
    command: Annotated[Texts, argument("[COMMAND]...", "Command or document: lag report.")] = None,
) -> None:
    printer = Printer(options_of(ctx))
    if command:
        printer.show_value(bundled(document_of(command)))
        return
    items = [
        {"document": name, "title": document["title"], "id": document["$id"]}
        for name, document in ((name, read_schema(name)) for name in documents())
    ]
    printer.show(
        Report(
            SCHEMA,
            items,
            (plain_view("document", COLUMNS),),
            summary=lambda: {"documents": len(items)},
        )
    )


def documents() -> list[str]:
    """The names of all documents; that of the common schema is none."""
    entries = (entry.name for entry in files("kgroups.cli.schemas").iterdir())
    names = {name.removesuffix(".json") for name in entries if name.endswith(".json")}
    return sorted(names - {COMMON})


def read_schema(name: str) -> dict[str, Any]:
    """The schema of a document as it is shipped."""
    path = files("kgroups.cli.schemas").joinpath(f"{name}.json")
    schema: dict[str, Any] = json.loads(path.read_bytes())
    return schema


def document_of(words: list[str]) -> str:
    """The document of a command: its own, or that of the noun which it belongs to.

    Args:
        words: the command's, or the name of a document.
    Raises:
        UsageError: there is none.
    """
    names = documents()
    text = ".".join(" ".join(words).removeprefix("kgroups.").partition("/")[0].split())
    for name in (text, text.rpartition(".")[0]):
        if name in names:
            return name
    near = guess(text, names, most=3).replace(".", " ")
    raise UsageError(
        f"`{' '.join(words)}` prints no JSON document{near}",
        hint="`kgroups schema` lists the documents",
    )


def bundled(name: str) -> dict[str, Any]:
    """A schema with the definitions that it refers to, so that it needs no other file."""
    root = read_schema(name)
    if not any(text.startswith(REFERENCE) for text in _references(root)):
        return root
    return {**root, "$defs": {**root.get("$defs", {}), REFERENCE: read_schema(COMMON)}}


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)
