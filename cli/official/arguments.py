"""Arguments read by the rules of jopt-simple, the parser of Kafka's tools.

A long option takes one dash or two, its value follows as the next word or after `=`. A word that
no option swallows is ignored, and `--` ends the options. Nothing is abbreviated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgroups.cli.official.options import Option
from kgroups.cli.official.tools import CONSUMER_TOOL, Tool
from kgroups.core.errors import UsageError


class ParseError(UsageError):
    """The arguments cannot be parsed; the message is in the parser's own words."""

    exit_code = 1


class LateError(Exception):
    """A value that parsed cannot be used; it is found only when the value is read."""


class BadValue(LateError):
    """The parser cannot make of a value what its option takes, or was given several."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that were given.

    Args:
        found: option to its values in order; None where it stands without one.
        words: what no option took.
    """

    found: Mapping[str, tuple[str | None, ...]]
    words: tuple[str, ...] = field(default=())
    tool: Tool = CONSUMER_TOOL

    def has(self, name: str) -> bool:
        """Whether the option is there, with a value or without."""
        return name in self.found

    def values(self, name: str) -> tuple[str, ...]:
        """All values of an option."""
        return tuple(value for value in self.found.get(name, ()) if value is not None)

    def value(self, name: str) -> str | None:
        """The one value of an option; None without one.

        Raises:
            BadValue: it has several.
        """
        values = self.values(name)
        if len(values) > 1:
            raise BadValue(
                f"Found multiple arguments for option {name}, but you asked for only one"
            )
        return values[0] if values else None

    def number(self, name: str) -> int | None:
        """The value of an option as a whole number of 64 bits; None without one.

        Raises:
            BadValue: it is none, or there are several.
        """
        text = self.value(name)
        if text is None:
            return None
        digits = text[1:] if text[:1] in ("+", "-") else text
        if digits.isdecimal() and -(2**63) <= int(text) < 2**63:
            return int(text)
        raise BadValue(f"Cannot parse argument '{text}' of option {name}")


@dataclass(frozen=True, slots=True)
class Given:
    """One step through the arguments: an option with its value, or a word."""

    option: Option | None
    text: str | None


def walk(words: Sequence[str], options: Mapping[str, Option]) -> Iterator[Given]:
    """Options and words in the order given.

    Raises:
        ParseError: an option is not known, or its value is missing.
    """
    left = list(reversed(words))
    ended = False
    while left:
        word = left.pop()
        if ended or not looks_like_option(word):
            yield Given(None, word)
        elif word == "--":
            ended = True
        else:
            dashes = 2 if word.startswith("--") else 1
            name, equals, value = word[dashes:].partition("=")
            option = options.get(name)
            if option is None:
                unknown = name if dashes == 2 else name[:1]
                raise ParseError(f"{unknown} is not a recognized option")
            yield Given(option, value if equals else _swallowed(option, left))


def looks_like_option(word: str) -> bool:
    """Whether a word begins with a dash and is more than one dash."""
    return word.startswith("-") and word != "-"


def _swallowed(option: Option, left: list[str]) -> str | None:
    """The value that an option takes off the words that are left."""
    if option.takes == "value":
        if not left:
            raise ParseError(f"Option {option.name} requires an argument")
        return left.pop()
    if option.takes == "maybe" and left and not looks_like_option(left[-1]):
        return left.pop()
    return None


def parse(words: Sequence[str], tool: Tool) -> Arguments:
    """The arguments of one call of a tool.

    Raises:
        ParseError: an option is not known, lacks its value, or cannot stand without another.
    """
    by_name = {option.name: option for option in tool.options}
    named: dict[str, tuple[str | None, ...]] = {}
    rest: list[str] = []
    for given in walk(words, by_name):
        if given.option is None:
            rest.append(given.text or "")
        else:
            value = None if given.option.takes == "nothing" else given.text
            named[given.option.name] = (*named.get(given.option.name, ()), value)
    lonely = [
        name
        for name in named
        if by_name[name].only_with and not any(other in named for other in by_name[name].only_with)
    ]
    if lonely and "help" not in named:
        raise ParseError(
            f"Option(s) [{', '.join(lonely)}] are unavailable given other options on the command "
            "line"
        )
    return Arguments(named, tuple(rest), tool)
