"""Plain lines of the commands that are called most, read without Typer, which takes its time.

Plain is a line that is right in every word: whatever is not, or asks for help, is left to Typer,
which alone tells what is wrong. Both read the same options, and a test holds them to the same
values.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from kgroups.cli.nouns import NOUNS
from kgroups.cli.output.status_line import is_plugin
from kgroups.cli.params import GLOBAL_OPTIONS, META, GlobalOption, check_texts
from kgroups.cli.parsing.line import Line
from kgroups.cli.parsing.option import Argument, Option
from kgroups.core.errors import KgroupsError

FUNCTIONS: Final = {"list": "list_groups", "describe": "describe", "plan": "plan"}
"""The commands that are read here, and the function of each."""


class _NotPlainError(Exception):
    """The line is Typer's to read."""


def plain_call(command: str, arguments: Sequence[str]) -> Callable[[], object] | None:
    """What runs the line; None where Typer has to read it.

    Args:
        command: the first word behind global options.
        arguments: of the whole line.
    """
    if command not in FUNCTIONS or is_plugin(arguments):
        return None
    module = import_module(f"kgroups.cli.{NOUNS[command]}")
    function = getattr(module, FUNCTIONS[command])
    try:
        meta, values = _read(command, arguments, _parameters(function))
    except (_NotPlainError, KgroupsError, ValueError):
        return None
    return partial(function, Line(meta), **values)


def _parameters(function: Any) -> dict[str, tuple[Any, Any]]:
    """Name to type and option or argument of each parameter but the context."""
    return {
        name: (get_args(hint)[0], hint.__metadata__[0])
        for name, hint in function.__annotations__.items()
        if hasattr(hint, "__metadata__")
    }


def _read(
    command: str, arguments: Sequence[str], parameters: Mapping[str, tuple[Any, Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of the global options, and of the command's own parameters.

    Raises:
        _NotPlainError: the line is not plain.
        KgroupsError, ValueError: a value cannot be read.
    """
    check_texts(arguments)
    common = {flag: option for option in GLOBAL_OPTIONS for flag in option.flags}
    own = {
        flag: name
        for name, (_, what) in parameters.items()
        if isinstance(what, Option)
        for flag in what.flags
    }
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    given: dict[str, list[str]] = {}
    others: list[str] = []
    is_named = False
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            if is_named or word != command:
                others.append(_plain(word))
            is_named = True
            continue
        flag, equals, value = word.partition("=")
        if flag in common:
            found = after if is_named else before
            takes = common[flag].parse is not None
            found.setdefault(common[flag].name, []).append(_value(takes, equals, value, words))
        elif flag in own and is_named:
            takes = parameters[own[flag]][0] is not bool
            given.setdefault(own[flag], []).append(_value(takes, equals, value, words))
        else:
            raise _NotPlainError
    if not is_named:
        raise _NotPlainError
    values = {name: _converted(*parameters[name], texts) for name, texts in given.items()}
    return _global_values(before, after), values | _arguments(parameters, others)


def _plain(word: str) -> str:
    if not word:
        raise _NotPlainError
    return word


def _value(takes: bool, equals: str, value: str, words: Iterator[str]) -> str:
    """The text of an option; empty for one that takes none."""
    if not takes:
        if equals:
            raise _NotPlainError
        return ""
    found = _plain(value if equals else next(words, ""))
    if found.startswith("-"):
        raise _NotPlainError
    return found


def _converted(kind: Any, what: Option, texts: Sequence[str]) -> Any:
    """What the texts of one option come to: of several the last one counts."""
    if kind is bool:
        return True
    if kind == list[str] | None:
        return list(texts)
    if kind == str | None:
        return texts[-1]
    if kind == Path | None:
        return Path(texts[-1])
    if kind in (int, int | None):
        found = [int(text) for text in texts][-1]
        if what.min is not None and found < what.min:
            raise _NotPlainError
        return found
    if texts[-1] in _choices(kind):
        return texts[-1]
    raise _NotPlainError


def _choices(kind: Any) -> tuple[Any, ...]:
    """The words of a `Literal`, with None or without."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next((get_args(part) for part in get_args(kind) if get_origin(part) is Literal), ())


def _arguments(parameters: Mapping[str, tuple[Any, Any]], words: Sequence[str]) -> dict[str, Any]:
    """The value of the command's only argument."""
    if not words:
        return {}
    ((name, kind),) = (
        (name, kind) for name, (kind, what) in parameters.items() if isinstance(what, Argument)
    )
    if kind == list[str] | None:
        return {name: list(words)}
    if len(words) > 1:
        raise _NotPlainError
    return {name: words[0]}


def _global_values(
    before: Mapping[str, list[str]], after: Mapping[str, list[str]]
) -> dict[str, Any]:
    """Values of the global options; the environment's where none stands before the command.

    Raises:
        KgroupsError: one cannot be read.
    """
    meta: dict[str, Any] = {}
    for option in GLOBAL_OPTIONS:
        texts = before.get(option.name) or _environment(option)
        for found in (texts, after.get(option.name)):
            if found:
                meta[META + option.name] = _global_value(option, found)
    return meta


def _environment(option: GlobalOption) -> list[str]:
    text = os.environ.get(option.env or "", "")
    check_texts([text])
    if option.several:
        return text.split()
    return [text] if text else []


def _global_value(option: GlobalOption, texts: Sequence[str]) -> Any:
    if option.parse is None:
        return True
    return tuple(texts) if option.several else option.parse(texts[-1])
