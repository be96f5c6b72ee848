"""What `--topic` names: whole topics, and partitions of topics."""

import re
from collections.abc import Iterable

from kgroups.cli.official.validation import Misuse
from kgroups.core.offsets.scope import Scope
from kgroups.core.snapshot import TopicPartition

_WHOLE_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)


def scope_of(values: Iterable[str]) -> Scope:
    """The scope of these values, `t` or `t:0,1`.

    Raises:
        Misuse: a value with more than one colon, or with a partition that is no number.
    """
    topics: dict[str, None] = {}
    partitions: dict[TopicPartition, None] = {}
    for text in values:
        if ":" not in text:
            topics[text] = None
            continue
        topic, *rest = _split(text, ":")
        if len(rest) != 1:
            raise Misuse(f"Invalid topic arg '{text}', expected topic name and partitions")
        for number in _split(rest[0], ","):
            if not _WHOLE_NUMBER.fullmatch(number):
                raise Misuse(f"Invalid partition '{number}' specified in topic arg '{text}''")
            partitions[topic, int(number)] = None
    return Scope(tuple(topics), tuple(partitions))


def _split(text: str, separator: str) -> list[str]:
    """Parts as Java splits: empty ones at the end do not count."""
    parts = text.split(separator)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts
