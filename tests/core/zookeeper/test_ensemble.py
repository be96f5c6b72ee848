"""The ensemble: what a session sees and when, by hand."""

from kgroups.core.zookeeper.ensemble import Ensemble, EnsembleConfig
from kgroups.core.zookeeper.node_tree import Change
from kgroups.core.zookeeper.protocol import (
    Answer,
    Api,
    Call,
    CloseSession,
    EventType,
    Expired,
    HangUp,
    Hello,
    Notice,
    Ping,
    Pong,
    Reply,
    Request,
    SetWatches,
    ToClient,
    ToServer,
    WatchEvent,
    Welcome,
    ZkError,
)

LAG_MS = 500


class Clients:
    """Connections to an ensemble without any network."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self._xid = 0

    def join(self, now_ms: int, connection: int, server: int, timeout_ms: int = 6_000) -> int:
        """Open a session; its number."""
        self.ensemble.accept(now_ms, connection, server)
        (welcome,) = self.send(now_ms, connection, Hello(0, timeout_ms, 0))
        assert isinstance(welcome, Welcome)
        return welcome.session_id

    def send(self, now_ms: int, connection: int, message: ToServer) -> list[ToClient]:
        """What this connection hears at once."""
        self.ensemble.receive(now_ms, connection, message)
        return self.heard(connection)

    def ask(
        self, now_ms: int, connection: int, api: Api, path: str, **more: object
    ) -> Reply | None:
        """The Reply, if it comes at once."""
        self._xid += 1
        request = Request(api, path, **more)  # type: ignore[arg-type]
        heard = self.send(now_ms, connection, Call(self._xid, request))
        replies = [one.reply for one in heard if isinstance(one, Answer)]
        return replies[0] if replies else None

    def heard(self, connection: int) -> list[ToClient]:
        """What this connection hears now; what others hear is dropped."""
        return [one.message for one in self.ensemble.take() if one.connection == connection]

    def later(self, now_ms: int) -> list[tuple[int, ToClient]]:
        """What everybody hears until then."""
        self.ensemble.advance(now_ms)
        return [(one.connection, one.message) for one in self.ensemble.take()]


def two_servers() -> Clients:
    """A leader and a follower that is half a second behind."""
    return Clients(Ensemble(EnsembleConfig(servers=2, lag_ms=lambda server, zxid: LAG_MS)))


def test_a_read_at_a_follower_is_stale_until_it_has_caught_up() -> None:
    """The leader knows the node at once, the follower 500 ms later."""
    clients = two_servers()
    clients.join(0, 1, 0)
    clients.join(0, 2, 1)
    assert clients.ask(10, 1, Api.CREATE, "/a") == Reply()
    assert clients.ask(11, 1, Api.EXISTS, "/a") == Reply()
    assert clients.ask(509, 2, Api.EXISTS, "/a") == Reply(ZkError.NO_NODE)
    assert clients.ask(510, 2, Api.EXISTS, "/a") == Reply()


def test_a_client_reads_its_own_writes() -> None:
    """A write through the follower is answered, and the read behind it, when it has caught up."""
    clients = two_servers()
    clients.join(0, 2, 1)
    assert clients.ask(10, 2, Api.CREATE, "/a", data="x") is None
    assert clients.ask(11, 2, Api.GET_DATA, "/a") is None
    assert clients.later(509) == []
    assert [message for _, message in clients.later(510)] == [
        Answer(1, 1, Reply()),
        Answer(2, 1, Reply(data="x")),
    ]


def test_a_watch_tells_before_the_change_can_be_read_and_only_once() -> None:
    """Every watcher is told of the first change, nobody of the second."""
    clients = two_servers()
    for connection in (1, 2, 3):
        clients.join(0, connection, 1)
    clients.ensemble.write(0, Change(Api.CREATE, "/a", "old"))
    clients.later(500)
    for connection in (1, 2):
        reply = clients.ask(600, connection, Api.GET_DATA, "/a", watch=True)
        assert reply == Reply(data="old")
    assert clients.ask(600, 3, Api.GET_DATA, "/a") == Reply(data="old")
    clients.ensemble.write(700, Change(Api.SET_DATA, "/a", "new"))
    clients.ensemble.write(710, Change(Api.SET_DATA, "/a", "newer"))
    assert clients.ask(1_199, 1, Api.GET_DATA, "/a") == Reply(data="old")
    notice = Notice(2, WatchEvent(EventType.DATA_CHANGED, "/a"))
    assert clients.later(1_200) == [(1, notice), (2, notice)]
    assert clients.later(5_000) == []


def test_children_watches_know_nothing_of_data_and_the_reverse() -> None:
    """A node's new child fires the watch on children, its new data the watch of exists."""
    clients = Clients(Ensemble())
    clients.join(0, 1, 0)
    clients.join(0, 2, 0)
    clients.ask(1, 1, Api.CREATE, "/a")
    clients.ask(2, 1, Api.GET_CHILDREN, "/a", watch=True)
    clients.ask(2, 2, Api.EXISTS, "/a", watch=True)
    clients.ensemble.write(3, Change(Api.CREATE, "/a/b"))
    assert clients.later(3) == [(1, Notice(2, WatchEvent(EventType.CHILDREN_CHANGED, "/a")))]
    clients.ensemble.write(4, Change(Api.SET_DATA, "/a", "x"))
    assert clients.later(4) == [(2, Notice(3, WatchEvent(EventType.DATA_CHANGED, "/a")))]


def test_the_end_of_a_node_is_told_once_to_who_watches_twice() -> None:
    """Watches on data and children of one node are one message when it is deleted."""
    clients = Clients(Ensemble())
    clients.join(0, 1, 0)
    clients.ask(1, 1, Api.CREATE, "/a")
    clients.ask(2, 1, Api.GET_CHILDREN, "/a", watch=True)
    clients.ask(2, 1, Api.EXISTS, "/a", watch=True)
    clients.ask(2, 1, Api.EXISTS, "/b", watch=True)
    clients.ensemble.write(3, Change(Api.DELETE, "/a"), Change(Api.CREATE, "/b"))
    assert [message for _, message in clients.later(3)] == [
        Notice(2, WatchEvent(EventType.DELETED, "/a")),
        Notice(2, WatchEvent(EventType.CREATED, "/b")),
    ]


def test_a_session_expires_at_the_tick_after_its_timeout() -> None:
    """Heard of last at 1,999 ms: 1,999 + 6,000 = 7,999 lies before the tick at 8,000 ms."""
    clients = Clients(Ensemble())
    clients.join(0, 1, 0)
    clients.join(0, 2, 0)
    assert clients.ask(1, 1, Api.CREATE, "/a", ephemeral=True) == Reply()
    assert clients.send(1_999, 1, Ping()) == [Pong()]
    clients.send(6_000, 2, Ping())
    assert clients.ask(7_999, 2, Api.EXISTS, "/a", watch=True) == Reply()
    assert clients.later(8_000) == [
        (2, Notice(2, WatchEvent(EventType.DELETED, "/a"))),
        (1, HangUp()),
    ]
    # Had it been heard a millisecond later, 8,000 is not before 8,000: the next tick is 10,000.
    clients.join(20_000, 3, 0)
    clients.send(22_000, 3, Ping())
    assert clients.later(29_999) == []
    assert clients.later(30_000) == [(3, HangUp())]


def test_an_expired_session_is_refused_and_a_living_one_goes_on() -> None:
    """What was watched and has changed meanwhile is told at once, the rest is watched again."""
    clients = Clients(Ensemble())
    session = clients.join(0, 1, 0)
    for path in ("/a", "/b", "/c"):
        clients.ask(1, 1, Api.CREATE, path)
    clients.ensemble.cut(2, 1)
    clients.ensemble.write(3, Change(Api.SET_DATA, "/a", "x"), Change(Api.CREATE, "/d"))
    clients.ensemble.accept(4, 2, 0)
    assert clients.send(4, 2, Hello(session, 6_000, 3)) == [Welcome(session, 6_000)]
    watches = SetWatches(3, ("/a", "/b", "/gone"), ("/d", "/e"), ("/c",))
    assert clients.send(5, 2, watches) == [
        Notice(4, WatchEvent(EventType.DATA_CHANGED, "/a")),
        Notice(4, WatchEvent(EventType.DELETED, "/gone")),
        Notice(4, WatchEvent(EventType.CREATED, "/d")),
    ]
    clients.ensemble.write(6, Change(Api.CREATE, "/e"), Change(Api.CREATE, "/c/d"))
    assert [message for _, message in clients.later(6)] == [
        Notice(5, WatchEvent(EventType.CREATED, "/e")),
        Notice(5, WatchEvent(EventType.CHILDREN_CHANGED, "/c")),
    ]
    clients.ensemble.cut(7, 2)
    clients.later(20_000)
    clients.ensemble.accept(20_000, 3, 0)
    assert clients.send(20_000, 3, Hello(session, 6_000, 5)) == [Expired(), HangUp()]


def test_no_server_behind_a_client_serves_it() -> None:
    """Who has seen change 1 at the leader waits for the follower to have it."""
    clients = two_servers()
    session = clients.join(0, 1, 0)
    clients.ask(10, 1, Api.CREATE, "/a")
    clients.ensemble.cut(11, 1)
    clients.ensemble.accept(20, 2, 1)
    assert clients.send(20, 2, Hello(session, 6_000, 1)) == []
    assert clients.later(509) == []
    assert clients.later(510) == [(2, Welcome(session, 6_000))]


def test_closing_a_session_takes_its_nodes_at_once() -> None:
    """Ephemeral nodes go, the others stay."""
    clients = Clients(Ensemble())
    clients.join(0, 1, 0)
    clients.ask(1, 1, Api.CREATE, "/stays")
    clients.ask(1, 1, Api.CREATE, "/goes", ephemeral=True)
    assert clients.send(2, 1, CloseSession()) == [HangUp()]
    tree = clients.ensemble.tree_of()
    assert tree.node("/stays") is not None
    assert tree.node("/goes") is None
    assert clients.ensemble.next_deadline() is None


def test_the_ensemble_grants_a_timeout_of_2_to_20_ticks() -> None:
    """2,000 ms a tick: what is asked for below 4,000 or above 40,000 is not granted."""
    granted = []
    for connection, asked_ms in enumerate((1_000, 6_000, 100_000)):
        ensemble = Ensemble()
        ensemble.accept(0, connection, 0)
        ensemble.receive(0, connection, Hello(0, asked_ms, 0))
        granted += [one.message for one in ensemble.take()]
    assert granted == [Welcome(1, 4_000), Welcome(1, 6_000), Welcome(1, 40_000)]


def test_writes_that_cannot_be_done_are_refused() -> None:
    """Each by ZooKeeper's error."""
    clients = Clients(Ensemble())
    clients.join(0, 1, 0)
    clients.ask(1, 1, Api.CREATE, "/a")
    clients.ask(1, 1, Api.CREATE, "/a/b")
    clients.ask(1, 1, Api.CREATE, "/e", ephemeral=True)
    cases = [
        (Api.CREATE, "/a", ZkError.NODE_EXISTS),
        (Api.CREATE, "/no/b", ZkError.NO_NODE),
        (Api.CREATE, "/e/f", ZkError.NO_CHILDREN_FOR_EPHEMERALS),
        (Api.DELETE, "/a", ZkError.NOT_EMPTY),
        (Api.DELETE, "/no", ZkError.NO_NODE),
        (Api.SET_DATA, "/no", ZkError.NO_NODE),
    ]
    for api, path, error in cases:
        assert clients.ask(2, 1, api, path) == Reply(error), f"{api} {path}"
