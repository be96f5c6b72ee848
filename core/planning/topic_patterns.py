"""Subscriptions by pattern: which topics a client's regular expression matches.

Each client library reads patterns by rules of its own: Java's regular expressions match a whole
name; librdkafka's, which begin with `^`, are POSIX extended ones and match a beginning; KIP-848
members send RE2 patterns to the coordinator, which match a whole name. A pattern whose meaning
here would not be the client's is refused, never guessed.

Patterns are other people's. They run in RE2, whose time grows with the name alone; what Java has
and RE2 has not (look-around, back references, possessive repetition) runs in a backtracking matcher
that is stopped.

Source: java.util.regex.Pattern; SubscriptionState.matchesSubscribedPattern; regcomp(3);
KIP-848 (SubscribedTopicRegex).
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, NoReturn

import re2
import regex

from kgroups.core.errors import UsageError, shorten
from kgroups.core.planning.changes.kinds import Dialect

Matches = Callable[[str], bool]

LONGEST_PATTERN: Final = 100_000
PATIENCE_S: Final = 1.0
"""For all the names that one pattern is tried on, where RE2 cannot read it."""

# Java clients leave Kafka's own topics out of pattern subscriptions (`exclude.internal.topics`).
INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state"})

JAVA_CLASSES: Final[Mapping[str, str]] = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "XDigit": "0-9a-fA-F",
}
POSIX_CLASSES: Final[Mapping[str, str]] = {
    "lower": "a-z",
    "upper": "A-Z",
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9a-fA-F",
    "space": r"\s",
}

_JAVA_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)|\\p\{(?:Is)?(?P<cls>\w+)\}|(?P<escape>\\.)|(?P<other>.)",
    re.DOTALL,
)
_JAVA_ONLY: Final = ("[[", "&&", r"\P{", r"\h", r"\R", r"\X", r"\G", r"\c", r"\N{", r"\x{")
# Letters and word ends behind a backslash are the C library's own, and literal inside brackets.
GNU_ESCAPES: Final = re.compile(r"\\[A-Za-z0-9<>`']")
_POSIX_CLASS = re.compile(r"\[:(\w+):\]")


class _NotInRe2(Exception):
    """A pattern that RE2 does not have."""


def topic_matcher(pattern: str, dialect: Dialect) -> Matches:
    """Whether a topic's name belongs to a subscription by this pattern.

    Raises:
        UsageError: the pattern is not one of this dialect, or means something that cannot be
            reproduced here.
    """
    if len(pattern) > LONGEST_PATTERN:
        _refuse(pattern, dialect, f"it is longer than {LONGEST_PATTERN:,} characters")
    if dialect == "java":
        return _java(pattern)
    if dialect == "librdkafka":
        return _posix(pattern)
    return _re2(pattern)


def matching_topics(names: Iterable[str], pattern: str, dialect: Dialect) -> tuple[str, ...]:
    """The topics of a subscription by pattern, ascending.

    Raises:
        UsageError: as `topic_matcher`.
    """
    matches = topic_matcher(pattern, dialect)
    hidden = INTERNAL_TOPICS if dialect == "java" else frozenset()
    return tuple(sorted(name for name in names if name not in hidden and matches(name)))


def _java(pattern: str) -> Matches:
    for text in _JAVA_ONLY:
        if text in pattern:
            _refuse(pattern, "java", f"`{text}` is not supported")
    inside = False
    parts: list[str] = []
    for token in _JAVA_TOKEN.finditer(pattern):
        if token["quoted"] is not None:
            parts.append(re.escape(token["quoted"]))
        elif token["cls"] is not None:
            if token["cls"] not in JAVA_CLASSES:
                _refuse(pattern, "java", f"the class `{token['cls']}` is not supported")
            chars = JAVA_CLASSES[token["cls"]]
            parts.append(chars if inside else f"[{chars}]")
        else:
            text = token[0]
            if text == "[":
                inside = True
            elif text == "]" and parts and parts[-1] not in ("[", "^"):
                inside = False
            parts.append("(?P<" if text == "(?<" else text)
    python = "".join(parts)
    # A named group is `(?<name>` in Java, which would be a look-behind without its sign here.
    python = re.sub(r"\(\?<(?![=!])", "(?P<", python)
    with suppress(_NotInRe2):
        compiled = _in_re2(python)
        return lambda name: compiled.fullmatch(name) is not None
    return _backtracking(python, pattern)


def _posix(pattern: str) -> Matches:
    text = pattern if pattern.startswith("^") else "^" + pattern
    for sign in ("(?", r"\]", "*?", "+?", "??", "*+", "++", "?+", *GNU_ESCAPES.findall(text)):
        if sign in text:
            _refuse(pattern, "librdkafka", f"POSIX regular expressions have no `{sign}`")

    def chars(match: re.Match[str]) -> str:
        if match[1] not in POSIX_CLASSES:
            _refuse(pattern, "librdkafka", f"unknown class `{match[1]}`")
        return POSIX_CLASSES[match[1]]

    try:
        compiled = _in_re2(_POSIX_CLASS.sub(chars, text))
    except _NotInRe2 as error:
        _refuse(pattern, "librdkafka", str(error))
    return lambda name: compiled.search(name) is not None


def _re2(pattern: str) -> Matches:
    try:
        compiled = _in_re2(pattern)
    except _NotInRe2 as error:
        _refuse(pattern, "re2", str(error))
    return lambda name: compiled.fullmatch(name) is not None


def _in_re2(pattern: str) -> Any:
    """The pattern for RE2.

    Raises:
        _NotInRe2: with RE2's own words.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raw = error.args[0] if error.args else b""
        words = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        raise _NotInRe2(words) from error


def _backtracking(translated: str, pattern: str) -> Matches:
    """A Java pattern that RE2 does not have, for a limited time."""
    try:
        compiled = regex.compile(translated)
    except regex.error as error:
        _refuse(pattern, "java", str(error))
    except RecursionError:
        _refuse(pattern, "java", "it is nested too deeply")
    left_s = PATIENCE_S

    def matches(name: str) -> bool:
        nonlocal left_s
        started = time.monotonic()
        try:
            return compiled.fullmatch(name, timeout=max(left_s, 0.001)) is not None
        except TimeoutError:
            _refuse(pattern, "java", f"trying it on `{shorten(name)}` takes too long")
        finally:
            left_s -= time.monotonic() - started

    return matches


def _refuse(pattern: str, dialect: Dialect, why: str) -> NoReturn:
    raise UsageError(
        f"the {dialect} pattern `{shorten(pattern)}` is not valid: {shorten(why)}",
        hint="dialects: java:REGEX, librdkafka:REGEX, re2:REGEX",
    )
