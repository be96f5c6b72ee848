"""Man pages of the program and of every command, made from the command tree."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from kgroups.cli.meanings.codes import EXIT_CODES
from kgroups.cli.nouns import SECTIONS
from kgroups.cli.params import GLOBAL_OPTIONS
from kgroups.core.release import VERSION

DATE: Final = "2026-11-22"
"""Of the last release: a page must not depend on the day on which it is made."""
TEXT_WIDTH: Final = 1_000

_HEADING: Final = re.compile(r"[A-Z][A-Z ,-]*(?:\s{2,}\S.*)?")


def man_pages(tree: Any) -> dict[str, str]:
    """Every page by the name of its file, `kgroups-lag-report.1`.

    Args:
        tree: the program.
    """
    return dict(_pages(tree, ()))


def _pages(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    lines = [*_head(command, path), *_body(command, path)]
    yield f"{'-'.join(('kgroups', *path))}.1", "".join(f"{line}\n" for line in lines)
    for name, child in _children(command):
        yield from _pages(child, (*path, name))


def _children(command: Any) -> list[tuple[str, Any]]:
    found = getattr(command, "commands", {})
    return [(name, child) for name, child in found.items() if not child.hidden]


def _head(command: Any, path: Sequence[str]) -> Iterator[str]:
    name = "-".join(("kgroups", *path))
    yield '.\\" Generated from the command tree: see "make man".'
    yield f'.TH "{_text(name.upper())}" 1 "{DATE}" "kgroups {VERSION}" "kgroups"'
    yield ".SH NAME"
    about = _summary(command)
    yield f"{_text(name)} \\- {_text(about[:1].lower() + about[1:])}"
    yield ".SH SYNOPSIS"
    yield f"\\fB{_text(' '.join(('kgroups', *path)))}\\fR"
    for param in command.params:
        if param.param_type_name == "argument":
            yield f"\\fI{_text(_metavar(param))}\\fR"
    if _children(command):
        yield "\\fICOMMAND\\fR"
    yield "[\\fIOPTION\\fR]..."


def _body(command: Any, path: Sequence[str]) -> Iterator[str]:
    yield ".SH DESCRIPTION"
    yield from _description(command.help or "")
    common = {option.name for option in GLOBAL_OPTIONS}
    params = [param for param in command.params if param.name not in common]
    arguments = [param for param in params if param.param_type_name == "argument" and param.help]
    options = [param for param in params if param.param_type_name == "option"]
    if arguments:
        yield ".SH ARGUMENTS"
        for param in arguments:
            yield from _item(f"\\fI{_text(_metavar(param))}\\fR", param.help)
    if path:
        yield from _commands(".SH COMMANDS", path, _children(command))
    else:
        for title, names in SECTIONS.items():
            known = dict(_children(command))
            found = [(name, known[name]) for name in names if name in known]
            yield from _commands(f".SH {title.upper()} COMMANDS", path, found)
    if options:
        yield ".SH OPTIONS"
        for param in options:
            yield from _item(_flags(param), _help_of(param))
    if path:
        yield ".PP"
        yield "Global options: see \\fBkgroups\\fR(1)."
    else:
        yield from _of_the_program(command)
    yield ".SH SEE ALSO"
    yield ",\n".join(_see_also(path))


def _of_the_program(command: Any) -> Iterator[str]:
    """What the page of the program says for all of them."""
    yield ".SH GLOBAL OPTIONS"
    named = {param.name: param for param in command.params}
    for option in GLOBAL_OPTIONS:
        yield from _item(_flags(named[option.name]), option.help)
    yield ".SH ENVIRONMENT"
    for option in GLOBAL_OPTIONS:
        if option.env is not None:
            yield from _item(f"\\fB{_text(option.env)}\\fR", f"Sets {option.flags[0]}.")
    yield ".SH EXIT STATUS"
    for each in EXIT_CODES:
        yield from _item(f"\\fB{each.code}\\fR", f"{each.meaning[:1].upper()}{each.meaning[1:]}.")


def _see_also(path: Sequence[str]) -> Iterator[str]:
    places = [path[:count] for count in range(len(path))] or [("explain",), ("schema",)]
    for place in places:
        yield f"\\fB{_text('-'.join(('kgroups', *place)))}\\fR(1)"


def _commands(heading: str, path: Sequence[str], found: Sequence[tuple[str, Any]]) -> Iterator[str]:
    if found:
        yield heading
    for name, child in found:
        page = "-".join(("kgroups", *path, name))
        yield from _item(f"\\fB{_text(page)}\\fR(1)", f"{_summary(child)}.")


def _description(text: str) -> Iterator[str]:
    """Prose is filled; what is below a heading in capitals stands as it was laid out."""
    for number, block in enumerate(text.strip().split("\n\n")):
        lines = block.split("\n")
        paragraph = [".PP"] if number else []
        if _HEADING.fullmatch(lines[0]) and all(line.startswith(" ") for line in lines[1:]):
            title, _, more = re.sub(r"\s{2,}", "\0", lines[0]).partition("\0")
            yield f".SS {_text(title)}"
            yield from _verbatim([*([f"  {more}"] if more else []), *lines[1:]])
        elif any(line.startswith(" ") for line in lines):
            yield from (*paragraph, *_verbatim(lines))
        else:
            yield from (*paragraph, *map(_line, lines))


def _verbatim(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ".nf"
        yield from (_line(line.removeprefix("  ")) for line in lines)
        yield ".fi"


def _item(title: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield title
    yield _line(text)


def _flags(param: Any) -> str:
    words = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in (*param.opts, *param.secondary_opts))
    return words if param.is_flag else f"{words} \\fI{_text(_metavar(param))}\\fR"


def _metavar(param: Any) -> str:
    choices = getattr(param.type, "choices", None)
    text = param.metavar or ("|".join(choices) if choices else param.type.name.upper())
    return str(text).strip("{}")


def _help_of(param: Any) -> str:
    return param.help or "Show this message and exit."


def _summary(command: Any) -> str:
    return str(command.get_short_help_str(TEXT_WIDTH)).rstrip(".")


def _line(text: str) -> str:
    """A line of text: one that begins like a request would be one."""
    made = _text(text)
    return f"\\&{made}" if made[:1] in (".", "'") else made


def _text(text: str) -> str:
    """Text as troff takes it: what it would obey, and what is not ASCII, spelled out."""
    made = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    made = made.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    made = made.replace("~", "\\(ti")
    return "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in made)
