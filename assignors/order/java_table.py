"""A Java HashMap's table: buckets, chains that double it, chains that become red-black trees.

Only the order of iteration is reproduced, so entries hold keys without values. A tree iterates as
a list in which a new node stands right behind its tree parent and the root stands first; that is
why the tree itself has to be built.

Source: java.util.HashMap and HashMap.TreeNode (OpenJDK 17).
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from kgroups.assignors.order.red_black_tree import Node, balance_deletion, balance_insertion, detach

K = TypeVar("K")

TREEIFY_THRESHOLD = 8
UNTREEIFY_THRESHOLD = 6
MIN_TREEIFY_CAPACITY = 64


def table_capacity(wanted: int) -> int:
    """The smallest power of two that is not below `wanted`: `HashMap.tableSizeFor`."""
    return 1 << max(wanted - 1, 0).bit_length()


class HashTable(Generic[K]):
    """The table of one HashMap.

    Args:
        capacity: its first size, a power of two.
        order: sort key that stands for the keys' `compareTo`; the key itself if None.
    """

    def __init__(self, capacity: int = 16, order: Callable[[K], object] | None = None) -> None:
        self._order = order
        self._buckets: list[Node[K] | None] = [None] * capacity
        self._trees: set[int] = set()
        self._members: set[K] = set()

    @property
    def capacity(self) -> int:
        """Number of buckets."""
        return len(self._buckets)

    def __len__(self) -> int:
        return len(self._members)

    def listed(self) -> list[K]:
        """Every key in the order of Java's iterators."""
        keys = []
        for node in self._buckets:
            while node is not None:
                keys.append(node.key)
                node = node.next
        return keys

    def put(self, key: K, spread: int) -> None:
        """Add a key at the tail of its chain, as `put`, `putIfAbsent` and `HashSet.add` do."""
        if key in self._members:
            return
        self._members.add(key)
        index = spread & len(self._buckets) - 1
        if index in self._trees:
            self._put_in_tree(index, Node(key, spread))
        else:
            self._append(index, Node(key, spread))
        if len(self._members) > len(self._buckets) * 3 // 4:
            self._grow()

    def compute(self, key: K, spread: int) -> None:
        """Add a key at the head of its chain, as `computeIfAbsent`, `compute` and `merge` do.

        The table grows at the next call after it became too small, even if that finds its key.
        """
        if len(self._members) > len(self._buckets) * 3 // 4:
            self._grow()
        if key in self._members:
            return
        self._members.add(key)
        index = spread & len(self._buckets) - 1
        if index in self._trees:
            self._put_in_tree(index, Node(key, spread))
            return
        first = self._buckets[index]
        self._buckets[index] = Node(key, spread, first)
        if _length(first) >= TREEIFY_THRESHOLD - 1:
            self._treeify_or_grow(index)

    def remove(self, key: K, spread: int) -> None:
        """Remove a key that is there, as `remove` does."""
        self._members.remove(key)
        index = spread & len(self._buckets) - 1
        node = self._buckets[index]
        previous = None
        while node is not None and node.key != key:
            previous, node = node, node.next
        assert node is not None
        if index in self._trees:
            self._remove_from_tree(index, node)
        elif previous is None:
            self._buckets[index] = node.next
        else:
            previous.next = node.next

    def _append(self, index: int, node: Node[K]) -> None:
        """Put a node at the end of a plain chain."""
        last = self._buckets[index]
        if last is None:
            self._buckets[index] = node
            return
        length = 1
        while last.next is not None:
            last = last.next
            length += 1
        last.next = node
        if length >= TREEIFY_THRESHOLD:
            self._treeify_or_grow(index)

    def _treeify_or_grow(self, index: int) -> None:
        """Handles a chain that became too long: a doubled table, or a tree."""
        if len(self._buckets) < MIN_TREEIFY_CAPACITY:
            self._grow()
            return
        previous = None
        node = self._buckets[index]
        while node is not None:
            node.previous = previous
            previous, node = node, node.next
        self._treeify(index)

    def _grow(self) -> None:
        """Double the table; each chain splits in two that keep their relative order."""
        old, bit = self._buckets, len(self._buckets)
        trees, self._trees = self._trees, set()
        self._buckets = old + [None] * bit
        for index, first in enumerate(old):
            halves: tuple[list[Node[K]], list[Node[K]]] = ([], [])
            node = first
            while node is not None:
                halves[1 if node.spread & bit else 0].append(node)
                node = node.next
            for place, half, other in ((index, *halves), (index + bit, halves[1], halves[0])):
                self._buckets[place] = _link(half)
                if index in trees and len(half) > UNTREEIFY_THRESHOLD:
                    self._trees.add(place)
                    if other:
                        self._treeify(place)

    def _precedes(self, node: Node[K], other: Node[K]) -> bool:
        """Whether `node` goes to the left of `other` in a tree."""
        if node.weight != other.weight:
            return node.weight < other.weight
        if self._order is None:
            return bool(node.key < other.key)  # type: ignore[operator]
        return bool(self._order(node.key) < self._order(other.key))  # type: ignore[operator]

    def _treeify(self, index: int) -> None:
        """Build the tree of a bucket from its chain."""
        self._trees.add(index)
        root: Node[K] | None = None
        node = self._buckets[index]
        while node is not None:
            node.left = node.right = node.parent = None
            if root is None:
                node.red = False
                root = node
            else:
                self._hang(root, node)
                root = balance_insertion(root, node)
            node = node.next
        self._move_to_front(index, root)

    def _hang(self, root: Node[K], node: Node[K]) -> Node[K]:
        """Make a node a leaf of the tree; returns its parent."""
        place: Node[K] | None = root
        parent = root
        left = False
        while place is not None:
            parent = place
            left = self._precedes(node, parent)
            place = parent.left if left else parent.right
        node.parent = parent
        if left:
            parent.left = node
        else:
            parent.right = node
        return parent

    def _put_in_tree(self, index: int, node: Node[K]) -> None:
        """Add a node to a tree; in the list it follows its tree parent."""
        root = self._buckets[index]
        assert root is not None
        parent = self._hang(root, node)
        node.next, parent.next = parent.next, node
        node.previous = parent
        if node.next is not None:
            node.next.previous = node
        self._move_to_front(index, balance_insertion(root, node))

    def _remove_from_tree(self, index: int, node: Node[K]) -> None:
        """Take a node out of list and tree; a tree that became small is a chain again."""
        root = self._buckets[index]
        assert root is not None
        if node.previous is None:
            self._buckets[index] = node.next
        else:
            node.previous.next = node.next
        if node.next is not None:
            node.next.previous = node.previous
        if root.right is None or root.left is None or root.left.left is None:
            self._trees.discard(index)
            return
        root, heir = detach(root, node)
        if not node.red:
            root = balance_deletion(root, heir)
        if heir is node and node.parent is not None:
            if node.parent.left is node:
                node.parent.left = None
            else:
                node.parent.right = None
            node.parent = None
        self._move_to_front(index, root)

    def _move_to_front(self, index: int, root: Node[K] | None) -> None:
        """Make the root of the tree the first of the list."""
        first = self._buckets[index]
        if root is None or first is None or root is first:
            return
        self._buckets[index] = root
        before, after = root.previous, root.next
        assert before is not None  # only the first of the list has nothing before it
        if after is not None:
            after.previous = before
        before.next = after
        first.previous = root
        root.next = first
        root.previous = None


def _length(node: Node[K] | None) -> int:
    """Number of nodes in a chain."""
    count = 0
    while node is not None:
        count += 1
        node = node.next
    return count


def _link(nodes: list[Node[K]]) -> Node[K] | None:
    """Chain the nodes in this order; returns the first."""
    previous: Node[K] | None = None
    for node in nodes:
        node.previous = previous
        node.next = None
        if previous is not None:
            previous.next = node
        previous = node
    return nodes[0] if nodes else None
