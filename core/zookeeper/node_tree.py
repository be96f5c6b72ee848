"""One server's copy of the nodes, and the watches that were set at that server.

Source: org.apache.zookeeper.server.DataTree and WatchManager (ZooKeeper 3.4).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from kgroups.core.zookeeper.protocol import (
    Api,
    EventType,
    Reply,
    Request,
    SetWatches,
    WatchEvent,
    ZkError,
)


@dataclass(slots=True)
class Znode:
    """A node.

    Attributes:
        owner: session of an ephemeral node; 0 for one that stays.
        mzxid: change that wrote its data last.
        pzxid: change that added or removed a child last.
    """

    data: str
    owner: int
    mzxid: int
    pzxid: int
    children: set[str] = field(default_factory=set)


class Change(NamedTuple):
    """One write, as every server applies it; `owner` as in Znode."""

    api: Api
    path: str
    data: str = ""
    owner: int = 0


class Transaction(NamedTuple):
    """Changes that are applied together; several only where a session ends."""

    zxid: int
    changes: tuple[Change, ...]


class Firing(NamedTuple):
    """A watch that fires for a connection."""

    connection: int
    event: WatchEvent


def parent_of(path: str) -> str:
    """Path of the node above."""
    return path.rsplit("/", 1)[0] or "/"


class ZnodeTree:
    """The nodes as one server knows them, with its watches.

    Attributes:
        zxid: newest change that was applied.
    """

    def __init__(self) -> None:
        self.zxid = 0
        self._nodes = {"/": Znode("", 0, 0, 0)}
        self._owned: dict[int, set[str]] = {}
        self._data_watches: dict[str, dict[int, None]] = {}
        self._child_watches: dict[str, dict[int, None]] = {}

    def node(self, path: str) -> Znode | None:
        """The node of this path; None if it is not there."""
        return self._nodes.get(path)

    def owned_by(self, session_id: int) -> tuple[str, ...]:
        """Paths of a session's ephemeral nodes, sorted."""
        return tuple(sorted(self._owned.get(session_id, ())))

    # ------------------------------------------------------------------ writes

    def refuse(self, request: Request) -> ZkError | None:
        """Why this write cannot be done; None if it can."""
        node = self._nodes.get(request.path)
        if request.api is Api.CREATE:
            parent = self._nodes.get(parent_of(request.path))
            if parent is None:
                return ZkError.NO_NODE
            if node is not None:
                return ZkError.NODE_EXISTS
            return ZkError.NO_CHILDREN_FOR_EPHEMERALS if parent.owner else None
        if node is None:
            return ZkError.NO_NODE
        if request.api is Api.DELETE and node.children:
            return ZkError.NOT_EMPTY
        return None

    def apply(self, transaction: Transaction) -> list[Firing]:
        """Make the changes; the watches that fire, in order. They are used up."""
        self.zxid = transaction.zxid
        fired: list[Firing] = []
        for change in transaction.changes:
            if change.api is Api.CREATE:
                self._create(change, fired)
            elif change.api is Api.DELETE:
                self._delete(change.path, fired)
            else:
                node = self._nodes[change.path]
                node.data, node.mzxid = change.data, self.zxid
                _fire(self._data_watches, EventType.DATA_CHANGED, change.path, fired)
        return fired

    def _create(self, change: Change, fired: list[Firing]) -> None:
        parent = parent_of(change.path)
        self._nodes[change.path] = Znode(change.data, change.owner, self.zxid, self.zxid)
        self._nodes[parent].children.add(change.path.rsplit("/", 1)[1])
        self._nodes[parent].pzxid = self.zxid
        if change.owner:
            self._owned.setdefault(change.owner, set()).add(change.path)
        _fire(self._data_watches, EventType.CREATED, change.path, fired)
        _fire(self._child_watches, EventType.CHILDREN_CHANGED, parent, fired)

    def _delete(self, path: str, fired: list[Firing]) -> None:
        parent = parent_of(path)
        owner = self._nodes.pop(path).owner
        if owner:
            self._owned[owner].discard(path)
            if not self._owned[owner]:
                del self._owned[owner]
        self._nodes[parent].children.discard(path.rsplit("/", 1)[1])
        self._nodes[parent].pzxid = self.zxid
        warned = _fire(self._data_watches, EventType.DELETED, path, fired)
        _fire(self._child_watches, EventType.DELETED, path, fired, but=warned)
        _fire(self._child_watches, EventType.CHILDREN_CHANGED, parent, fired)

    # ------------------------------------------------------------------ reads

    def read(self, connection: int, request: Request) -> Reply:
        """Answer a read and set its watch; only exists watches a node that is not there."""
        path, node = request.path, self._nodes.get(request.path)
        if request.watch and (node is not None or request.api is Api.EXISTS):
            children = request.api is Api.GET_CHILDREN
            watches = self._child_watches if children else self._data_watches
            watches.setdefault(path, {})[connection] = None
        if node is None:
            return Reply(ZkError.NO_NODE)
        if request.api is Api.GET_CHILDREN:
            return Reply(children=tuple(sorted(node.children)))
        return Reply(data=node.data)

    def set_watches(self, connection: int, asked: SetWatches) -> list[Firing]:
        """Set a moved session's watches again; those fire at once whose node has changed since."""
        fired: list[Firing] = []

        def tell(kind: EventType, path: str) -> None:
            fired.append(Firing(connection, WatchEvent(kind, path)))

        for path in asked.data:
            node = self._nodes.get(path)
            if node is None:
                tell(EventType.DELETED, path)
            elif node.mzxid > asked.zxid:
                tell(EventType.DATA_CHANGED, path)
            else:
                self._data_watches.setdefault(path, {})[connection] = None
        for path in asked.absent:
            if path in self._nodes:
                tell(EventType.CREATED, path)
            else:
                self._data_watches.setdefault(path, {})[connection] = None
        for path in asked.children:
            node = self._nodes.get(path)
            if node is None:
                tell(EventType.DELETED, path)
            elif node.pzxid > asked.zxid:
                tell(EventType.CHILDREN_CHANGED, path)
            else:
                self._child_watches.setdefault(path, {})[connection] = None
        return fired

    def forget_watches(self, connection: int) -> None:
        """Drop the watches of a connection that is closed."""
        for watches in (self._data_watches, self._child_watches):
            for path in [path for path, held in watches.items() if connection in held]:
                del watches[path][connection]
                if not watches[path]:
                    del watches[path]


def _fire(
    watches: dict[str, dict[int, None]],
    kind: EventType,
    path: str,
    fired: list[Firing],
    but: frozenset[int] = frozenset(),
) -> frozenset[int]:
    """Use up the watches of a path; connections that were told."""
    watchers = watches.pop(path, {})
    fired.extend(Firing(w, WatchEvent(kind, path)) for w in watchers if w not in but)
    return frozenset(watchers)
