"""Red-black trees as `java.util.HashMap` keeps them in a bucket with many keys.

Source: java.util.HashMap.TreeNode (OpenJDK 17).
"""

from typing import Generic, TypeVar

K = TypeVar("K")


class Node(Generic[K]):
    """One entry: a link of a chain and, in a treeified bucket, a node of its tree."""

    __slots__ = ("key", "left", "next", "parent", "previous", "red", "right", "spread", "weight")

    def __init__(self, key: K, spread: int, after: "Node[K] | None" = None) -> None:
        self.key = key
        self.spread = spread
        self.weight = spread - (1 << 32) if spread >> 31 else spread  # Java compares signed ints
        self.next = after
        self.previous: Node[K] | None = None
        self.parent: Node[K] | None = None
        self.left: Node[K] | None = None
        self.right: Node[K] | None = None
        self.red = False


def _rotate(root: Node[K], pivot: Node[K], *, left: bool) -> Node[K]:
    """Rotate around a node; returns the root."""
    child = pivot.right if left else pivot.left
    assert child is not None
    inner = child.left if left else child.right
    if left:
        pivot.right, child.left = inner, pivot
    else:
        pivot.left, child.right = inner, pivot
    if inner is not None:
        inner.parent = pivot
    above = pivot.parent
    child.parent = above
    pivot.parent = child
    if above is None:
        child.red = False
        return child
    if above.left is pivot:
        above.left = child
    else:
        above.right = child
    return root


def balance_insertion(root: Node[K], node: Node[K]) -> Node[K]:
    """Restore the red-black rules after `node` became a leaf; returns the root."""
    node.red = True
    while True:
        parent = node.parent
        if parent is None:
            node.red = False
            return node
        above = parent.parent
        if not parent.red or above is None:
            return root
        on_left = parent is above.left
        uncle = above.right if on_left else above.left
        if uncle is not None and uncle.red:
            uncle.red = parent.red = False
            above.red = True
            node = above
            continue
        if node is (parent.right if on_left else parent.left):
            node = parent
            root = _rotate(root, node, left=on_left)
            parent = node.parent
            assert parent is not None
            above = parent.parent
        parent.red = False
        if above is not None:
            above.red = True
            root = _rotate(root, above, left=not on_left)


def detach(root: Node[K], node: Node[K]) -> tuple[Node[K], Node[K]]:
    """Take a node out of the tree's links; returns the root and what stands in its place.

    A leaf stands in its own place until the caller has balanced the tree.
    """
    left, right = node.left, node.right
    if left is not None and right is not None:
        root = _swap_with_successor(root, node, left, right)
        heir = node.right or node
    else:
        heir = left or right or node
    if heir is not node:
        above = heir.parent = node.parent
        if above is None:
            root = heir
            root.red = False
        elif above.left is node:
            above.left = heir
        else:
            above.right = heir
        node.left = node.right = node.parent = None
    return root, heir


def _swap_with_successor(root: Node[K], node: Node[K], left: Node[K], right: Node[K]) -> Node[K]:
    """Exchange a node that has two children with the next one in order; returns the root."""
    successor = right
    while successor.left is not None:
        successor = successor.left
    successor.red, node.red = node.red, successor.red
    orphan, above = successor.right, node.parent
    if successor is right:
        node.parent = successor
        successor.right = node
    else:
        parent = successor.parent
        assert parent is not None
        node.parent = parent
        parent.left = node
        successor.right = right
        right.parent = successor
    node.left, node.right = None, orphan
    if orphan is not None:
        orphan.parent = node
    successor.left = left
    left.parent = successor
    successor.parent = above
    if above is None:
        return successor
    if above.left is node:
        above.left = successor
    else:
        above.right = successor
    return root


def _is_red(node: Node[K] | None) -> bool:
    return node is not None and node.red


def balance_deletion(root: Node[K], node: Node[K]) -> Node[K]:
    """Restore the red-black rules after a black node above `node` was taken; returns the root."""
    while node is not root:
        parent = node.parent
        if parent is None:
            node.red = False
            return node
        if node.red:
            node.red = False
            return root
        on_left = parent.left is node
        sibling = parent.right if on_left else parent.left
        if sibling is not None and sibling.red:
            sibling.red, parent.red = False, True
            root = _rotate(root, parent, left=on_left)
            sibling = parent.right if on_left else parent.left
        if sibling is None:
            node = parent
            continue
        near, far = (sibling.left, sibling.right) if on_left else (sibling.right, sibling.left)
        if not _is_red(near) and not _is_red(far):
            sibling.red = True
            node = parent
            continue
        if not _is_red(far):
            if near is not None:
                near.red = False
            sibling.red = True
            root = _rotate(root, sibling, left=not on_left)
            sibling = parent.right if on_left else parent.left
        if sibling is not None:
            sibling.red = parent.red
            far = sibling.right if on_left else sibling.left
            if far is not None:
                far.red = False
        parent.red = False
        root = _rotate(root, parent, left=on_left)
        node = root
    return root
