"""Subscriptions by pattern: which topics a client's regular expression stands for.

Each client library reads patterns by rules of its own: Java's regular expressions match a whole
name; librdkafka's, which begin with `^`, are POSIX extended ones and match a beginning; KIP-848
members send RE2 patterns to the coordinator, which match a whole name. A pattern whose meaning
here would not be the client's is refused, never guessed.

Source: java.util.regex.Pattern; SubscriptionState.matchesSubscribedPattern; regcomp(3);
KIP-848 (SubscribedTopicRegex).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NoReturn

from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import Dialect

Matches = Callable[[str], bool]

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


def topic_matcher(pattern: str, dialect: Dialect) -> Matches:
    """Whether a topic's name belongs to a subscription by this pattern.

    Raises:
        UsageError: the pattern is not one of this dialect, or means something that cannot be
            reproduced here.
    """
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
            _refuse(pattern, "java", f"`{text}` cannot be reproduced here")
    inside = False
    parts: list[str] = []
    for token in _JAVA_TOKEN.finditer(pattern):
        if token["quoted"] is not None:
            parts.append(re.escape(token["quoted"]))
        elif token["cls"] is not None:
            if token["cls"] not in JAVA_CLASSES:
                _refuse(pattern, "java", f"the class `{token['cls']}` cannot be reproduced here")
            chars = JAVA_CLASSES[token["cls"]]
            parts.append(chars if inside else f"[{chars}]")
        else:
            text = token[0]
            if text == "[":
                inside = True
            elif text == "]" and parts and parts[-1] not in ("[", "^"):
                inside = False
            parts.append("(?P<" if text == "(?<" else text)
    found = "".join(parts)
    # A named group is `(?<name>` in Java, which would be a look-behind without its sign here.
    found = re.sub(r"\(\?<(?![=!])", "(?P<", found)
    compiled = _compiled(found, pattern, "java")
    return lambda name: compiled.fullmatch(name) is not None


def _posix(pattern: str) -> Matches:
    text = pattern if pattern.startswith("^") else "^" + pattern
    for sign in ("(?", r"\]", "*?", "+?", "??", "*+", "++", "?+", *GNU_ESCAPES.findall(text)):
        if sign in text:
            _refuse(pattern, "librdkafka", f"POSIX regular expressions have no `{sign}`")

    def chars(found: re.Match[str]) -> str:
        if found[1] not in POSIX_CLASSES:
            _refuse(pattern, "librdkafka", f"there is no class `{found[1]}`")
        return POSIX_CLASSES[found[1]]

    compiled = _compiled(_POSIX_CLASS.sub(chars, text), pattern, "librdkafka")
    return lambda name: compiled.search(name) is not None


def _re2(pattern: str) -> Matches:
    import re2  # a native library: only where a pattern of this dialect is read

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raw = error.args[0] if error.args else b""
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        _refuse(pattern, "re2", text)
    return lambda name: compiled.fullmatch(name) is not None


def _compiled(translated: str, pattern: str, dialect: Dialect) -> re.Pattern[str]:
    try:
        return re.compile(translated)
    except re.error as error:
        _refuse(pattern, dialect, str(error))


def _refuse(pattern: str, dialect: Dialect, why: str) -> NoReturn:
    raise UsageError(
        f"the {dialect} pattern `{pattern}` cannot be read: {why}",
        hint="dialects: java:REGEX, librdkafka:REGEX, re2:REGEX",
    )
