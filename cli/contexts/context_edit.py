"""Changes of the configuration file that leave everything else in it as it stands."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import yaml

from kgroups.cli.contexts.context import ContextFile
from kgroups.cli.contexts.context_file import parse_contexts
from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def save(file: ContextFile, text: str, expected: Mapping[str, Any], current: str | None) -> None:
    """Replace the file by this text, if it then says what it should: whole or not at all.

    Args:
        file: as it was read.
        expected: the fields of each context that it should have, by name.
    Raises:
        UsageError: the text says something else, since the file is written in a way that cannot
            be edited; or it cannot be written.
    """
    try:
        written = parse_document(text, str(file.path), "yaml").value if text.strip() else {}
        parse_contexts(text, file.path)
    except UsageError:
        written = None
    if not isinstance(written, dict) or (
        (written.get("contexts") or {}) != expected or written.get("current") != current
    ):
        raise UsageError(
            f"`{file.path}` is written in a way that kgroups cannot change",
            hint="change it with an editor; docs/contexts.md has an example",
        )
    path = Path(os.path.realpath(file.path))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            part.chmod(mode)
            part.replace(path)
        finally:
            with suppress(OSError):
                part.unlink()
    except (OSError, UnicodeEncodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "a name is not valid Unicode"
        raise UsageError(f"`{file.path}` cannot be written: {why}") from error


def fields_in(file: ContextFile) -> dict[str, Any]:
    """The fields of each context as they stand in the file, by name."""
    if file.text is None or not file.contexts:
        return {}
    value: Any = parse_document(file.text, str(file.path), "yaml").value
    return dict(value["contexts"])


def with_context(file: ContextFile, name: str, fields: Mapping[str, Any]) -> str:
    """The text with one more context at the end."""
    text = file.text or ""
    if text and not text.endswith("\n"):
        text += "\n"
    place = _place_of_contexts(text)
    if place is None:
        return f"{text}contexts:\n{_block(name, fields, 2)}"
    key, value, end = place
    if isinstance(value, yaml.MappingNode) and value.value:
        return _spliced(text, end, end, _block(name, fields, value.value[0][0].start_mark.column))
    # `contexts:` with nothing below, or `{}`
    line = key.start_mark.line
    return _spliced(text, line, line + 1, f"contexts:\n{_block(name, fields, 2)}")


def without_context(file: ContextFile, name: str) -> str:
    """The text without a context, which is not the current one any more."""
    text = (file.text or "").rstrip("\n") + "\n"
    place = _place_of_contexts(text)
    if place is None or not isinstance(place[1], yaml.MappingNode):
        return text
    _, value, end = place
    lines = [key.start_mark.line for key, _ in value.value] + [end]
    for index, (key, _) in enumerate(value.value):
        if key.value == name:
            last = index == len(value.value) - 1
            stop = end if last else _without_comments(text, lines[index + 1])
            text = _spliced(text, lines[index], stop, "")
    return with_current(text, None) if file.current == name else text


def with_current(text: str, name: str | None) -> str:
    """The text with this context as the current one; None for no such line."""
    new = "" if name is None else yaml.safe_dump({"current": name})
    keys = _top_level(text)
    for key, value in keys:
        if key.value == "current":
            return _spliced(text, key.start_mark.line, value.end_mark.line + 1, new)
    at = keys[0][0].start_mark.line if keys else len(text.splitlines())
    if text and not text.endswith("\n"):
        text += "\n"
    return _spliced(text, at, at, new)


def _top_level(text: str) -> list[tuple[Any, Any]]:
    node = yaml.compose(text, Loader=_LOADER)
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


def _place_of_contexts(text: str) -> tuple[Any, Any, int] | None:
    """Key and value of `contexts`, and the line after them; None if they are not there."""
    keys = _top_level(text)
    for index, (key, value) in enumerate(keys):
        if key.value == "contexts":
            if index + 1 < len(keys):
                return key, value, _without_comments(text, keys[index + 1][0].start_mark.line)
            return key, value, _without_comments(text, len(text.splitlines()))
    return None


def _without_comments(text: str, line: int) -> int:
    """The first of the lines of comments and blanks right above a line."""
    lines = text.splitlines()
    while line and (not lines[line - 1].strip() or lines[line - 1].lstrip().startswith("#")):
        line -= 1
    return line


def _spliced(text: str, start: int, stop: int, new: str) -> str:
    """The text with other lines in place of those from `start` to before `stop`."""
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:start], new, *lines[stop:]])


def _block(name: str, fields: Mapping[str, Any], indent: int) -> str:
    text = yaml.safe_dump({name: dict(fields)}, sort_keys=False, allow_unicode=True, width=10_000)
    return "".join(" " * indent + line + "\n" for line in text.splitlines())
