"""Iteration order of Scala's immutable Set of texts, in which Kafka's brokers keep topic names.

Up to four elements stay as they came. More of them are a hash trie of 32 branches a level: at each
node first the elements that stand there, by branch, then the nodes below, by branch.

Source: scala.collection.immutable.{Set1..Set4, HashSet}, scala.collection.Hashing (2.13).
"""

from collections.abc import Iterable

from kgroups.assignors.order.java_order import MASK, string_hash

AS_THEY_CAME = 4
BITS = 5
HASH_BITS = 32


def scala_set_order(texts: Iterable[str]) -> list[str]:
    """The texts, each once, in the order of a set to which they were added one by one."""
    listed = list(dict.fromkeys(texts))
    if len(listed) <= AS_THEY_CAME:
        return listed
    return _walked([(text, _improved(string_hash(text))) for text in listed], 0)


def _improved(code: int) -> int:
    """A hash code with its bits mixed, as the set does first."""
    code = (code + (~(code << 9) & MASK)) & MASK
    code ^= code >> 14
    code = (code + (code << 4)) & MASK
    return code ^ code >> 10


def _walked(elements: list[tuple[str, int]], shift: int) -> list[str]:
    """The elements of a node and of those below."""
    if shift >= HASH_BITS:  # equal hashes: as they came
        return [text for text, _ in elements]
    branches: dict[int, list[tuple[str, int]]] = {}
    for text, code in elements:
        branches.setdefault(code >> shift & (1 << BITS) - 1, []).append((text, code))
    ordered = [branches[branch] for branch in sorted(branches)]
    keys = [held[0][0] for held in ordered if len(held) == 1]
    for held in ordered:
        if len(held) > 1:
            keys += _walked(held, shift + BITS)
    return keys
