"""Conditions read from text, by precedence: `or` below `and` below `not` below comparisons.

condition  = all-of { "or" all-of }
all-of     = negation { "and" negation }
negation   = "not" negation | "(" condition ")" | comparison
comparison = FIELD ( = | == | != | < | <= | > | >= ) ( NUMBER | 'TEXT' ) | FIELD ~ 'REGEX'
NUMBER     = 12 | 0.5 | 10k (M, G) | 90% | 5m (1h30m, 250ms)
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, NoReturn, cast

from kgroups.core.conditions.condition import MATCHES, Comparison, Condition, Joined, Node, Not
from kgroups.core.conditions.fields import SECONDS, Field, Fields
from kgroups.core.errors import PatternError, UsageError
from kgroups.core.patterns import compile_pattern
from kgroups.core.times import duration_ms

Sort = Literal["sign", "bracket", "text", "number", "word"]
SIGNS: Final = ("=", "==", "!=", "<", "<=", ">", ">=", "~")
MULTIPLES: Final[Mapping[str, int]] = {
    "k": 1_000,
    "K": 1_000,
    "M": 1_000_000,
    "G": 1_000_000_000,
}

_NUMBER: Final = r"\d{1,18}(?:\.\d{1,9})?"
_WORD: Final = re.compile(
    rf"""\s*(?:
    (?P<sign>>=|<=|==|!=|=|>|<|~)
    | (?P<bracket>[()])
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<number>-?(?:(?:{_NUMBER}(?:us|ms|[smhdw])(?![A-Za-z]))+ | {_NUMBER}(?:%|[kKMG](?!\w))?))
    | (?P<word>[A-Za-z_][\w-]*)
    )""",
    re.ASCII | re.VERBOSE,
)
FORM: Final = (
    "write it like `lag > 10k and state != 'Stable'`; "
    "operators are " + " ".join(SIGNS) + ", and comparisons are joined by `and`, `or` and `not`"
)
DEEPEST: Final = 50
"""Levels of `not` and parentheses; more is no condition that somebody wrote."""


class Word(NamedTuple):
    """One word of a condition, as it is written."""

    sort: Sort
    text: str


class Number(NamedTuple):
    """Value of a number.

    Args:
        value: the number, multiplied; of a duration its seconds; of a percentage its hundredths.
        unit: whether it is a plain number, a percentage, or a duration.
    """

    value: float
    unit: Literal["", "%", "time"]


def words_of(text: str) -> tuple[list[Word], str]:
    """The words of a condition, and the rest in which none begins; empty when all is understood."""
    words: list[Word] = []
    ends = len(text.rstrip())
    place = 0
    while place < ends:
        match = _WORD.match(text, place, ends)
        if match is None:
            return words, text[place:ends].strip()
        sort = cast("Sort", match.lastgroup)
        words.append(Word(sort, match[sort]))
        place = match.end()
    return words, ""


def number_of(text: str) -> Number | None:
    """Value that the text of a number spells; None for a duration beyond a hundred years."""
    if text.endswith("%"):
        return Number(float(text[:-1]), "%")
    if text[-1] in MULTIPLES:
        return Number(float(text[:-1]) * MULTIPLES[text[-1]], "")
    if text[-1].isdigit():
        return Number(float(text), "")
    ms = duration_ms(text.removeprefix("-"))
    if ms is None:
        return None
    return Number((-ms if text.startswith("-") else ms) / 1_000, "time")


def quoted(text: str) -> str:
    """Text within quotation marks; a mark within is written twice."""
    mark = text[0]
    return text[1:-1].replace(mark * 2, mark)


def parse_conditions(
    texts: Iterable[str], fields: Fields, option: str = "--fail-on"
) -> tuple[Condition, ...]:
    """The conditions that these texts spell, as `parse_condition` reads each."""
    return tuple(parse_condition(text, fields, option) for text in texts)


def parse_condition(text: str, fields: Fields, option: str) -> Condition:
    """The condition that a text spells.

    Args:
        option: where the text comes from, for messages: `--fail-on`.
    Raises:
        UsageError: it cannot be understood, or names a field that is not there.
    """
    words, rest = words_of(text)
    parser = _Parser(text, words, fields, option)
    if rest:
        parser.refuse(
            "missing closing quotation mark" if rest[0] in "'\"" else f"`{rest}` is not valid"
        )
    root = parser.any_of(0)
    word = parser.next
    if word is not None:
        if word.text == ")":
            parser.refuse("`)` has no matching `(`")
        parser.refuse(f"expected `and` or `or`, found `{word.text}`")
    return Condition(root, text.strip())


@dataclass(slots=True)
class _Parser:
    """The words of a condition and how far they have been read."""

    source: str
    words: list[Word]
    fields: Fields
    option: str
    place: int = 0

    @property
    def next(self) -> Word | None:
        """The word to be read next; None at the end."""
        return self.words[self.place] if self.place < len(self.words) else None

    def refuse(self, why: str, hint: str = FORM) -> NoReturn:
        """Say what is wrong with the text."""
        raise UsageError(f"`{self.option} {self.source}`: {why}", hint=hint)

    def takes(self, word: str) -> bool:
        """Whether this word comes next; then it is read."""
        token = self.next
        if token is None or token.sort not in ("word", "bracket") or token.text.lower() != word:
            return False
        self.place += 1
        return True

    def any_of(self, depth: int) -> Node:
        return self._joined("or", lambda: self._all_of(depth), decisive=True)

    def _all_of(self, depth: int) -> Node:
        return self._joined("and", lambda: self._negation(depth), decisive=False)

    def _joined(self, word: str, part: Callable[[], Node], *, decisive: bool) -> Node:
        nodes = [part()]
        while self.takes(word):
            nodes.append(part())
        return nodes[0] if len(nodes) == 1 else Joined(tuple(nodes), decisive)

    def _negation(self, depth: int) -> Node:
        if depth > DEEPEST:
            self.refuse(f"it is nested more than {DEEPEST} levels deep")
        if self.takes("not"):
            return Not(self._negation(depth + 1))
        if self.takes("("):
            inner = self.any_of(depth + 1)
            if not self.takes(")"):
                self.refuse("missing `)`")
            return inner
        return self._comparison()

    def _comparison(self) -> Comparison:
        name = self._read("a field")
        field = self.fields.field(name.text) if name.sort == "word" else None
        if field is None:
            self._refuse_name(name)
        sign = self._read("one of " + " ".join(SIGNS))
        if sign.sort != "sign":
            self.refuse(f"expected one of {' '.join(SIGNS)}, found `{sign.text}`")
        value = self._read("a string" if field.kind == "text" else "a number")
        text = f"{name.text} {sign.text} {value.text}"
        own = "=" if sign.text == "==" else sign.text
        if field.kind == "text":
            return self._of_text(field, own, value, text)
        number = self._number(field, own, value)
        return Comparison(field, own, number.value, number.unit == "%", text)

    def _of_text(self, field: Field, sign: str, value: Word, text: str) -> Comparison:
        if sign not in ("=", "!=", MATCHES):
            self.refuse(f"`{field.name}` is a string, which `{sign}` cannot compare")
        if value.sort != "text":
            self.refuse(
                f"`{value.text}` is not a quoted string",
                f"write it like `{field.name} {sign} '{value.text}'`",
            )
        operand = quoted(value.text)
        matches = self._pattern(operand) if sign == MATCHES else None
        return Comparison(field, sign, operand, False, text, matches)

    def _number(self, field: Field, sign: str, value: Word) -> Number:
        if sign == MATCHES:
            self.refuse(f"`{field.name}` is a number, which `{MATCHES}` cannot match")
        if value.sort != "number":
            self.refuse(f"`{value.text}` is not a number, but `{field.name}` is")
        number = number_of(value.text)
        if number is None:
            self.refuse(f"`{value.text}` is longer than a hundred years")
        if number.unit == "%" and field.whole is None:
            self.refuse(f"`{field.name}` has no percentage")
        if number.unit == "time" and field.unit != SECONDS:
            counted = f" of {field.unit}" if field.unit else ""
            self.refuse(f"`{value.text}` is a duration, but `{field.name}` is a number{counted}")
        return number

    def _pattern(self, text: str) -> Callable[[str], bool]:
        try:
            return compile_pattern(text)
        except PatternError as error:
            self.refuse(
                f"`{text}` is not a valid pattern: {error}",
                "patterns are RE2 and match whole strings",
            )

    def _read(self, what: str) -> Word:
        word = self.next
        if word is None:
            self.refuse(f"expected {what} at the end")
        self.place += 1
        return word

    def _refuse_name(self, word: Word) -> NoReturn:
        unknown = f"unknown field `{word.text}` of {self.fields.of}"
        self.refuse(
            "; ".join(filter(None, (unknown, self.fields.meant(word.text)))),
            "fields: " + ", ".join(self.fields.names),
        )
