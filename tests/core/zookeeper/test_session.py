"""The client's end of a session: pings, patience, the next server, watches set again, by hand."""

from kgroups.core.zookeeper.client_session import (
    ClientSession,
    Dial,
    Entered,
    Fired,
    SessionState,
    Told,
    Transmit,
)
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
    WatchEvent,
    Welcome,
    ZkError,
)

CONNECTED, LOST = Entered(SessionState.CONNECTED), Entered(SessionState.CONNECTING)


def joined(timeout_ms: int = 6_000) -> tuple[ClientSession, int]:
    """A session that is connected at 0 ms to server 1 of three, and its connection."""
    session = ClientSession(timeout_ms, 3, lambda below: below // 2)
    session.connect(0)
    dial, hello = session.take()
    assert isinstance(dial, Dial)
    assert dial.server == 1  # chance draws the middle one
    assert hello == Transmit(dial.connection, Hello(0, timeout_ms, 0))
    session.receive(0, dial.connection, Welcome(7, timeout_ms))
    assert session.take() == [CONNECTED]
    return session, dial.connection


def test_a_quiet_client_pings_after_a_third_of_its_timeout() -> None:
    """Half of the patience of two thirds: 2,000 of 6,000 ms; a request puts it off."""
    session, connection = joined()
    assert session.next_deadline() == 2_000
    token = session.call(500, Request(Api.EXISTS, "/a"))
    assert session.take() == [Transmit(connection, Call(token, Request(Api.EXISTS, "/a")))]
    session.receive(502, connection, Answer(token, 1, Reply()))
    assert session.take() == [Told(token, Reply())]
    assert session.next_deadline() == 2_500
    session.advance(2_500)
    assert session.take() == [Transmit(connection, Ping())]
    session.receive(2_501, connection, Pong())
    assert session.next_deadline() == 4_500


def test_a_silent_server_is_given_up_after_two_thirds() -> None:
    """At 4,000 ms the connection is lost; half a second of chance later the next one is tried."""
    session, connection = joined()
    token = session.call(0, Request(Api.EXISTS, "/a"))
    session.advance(2_000)
    session.take()
    session.advance(3_999)
    assert session.take() == []
    session.advance(4_000)
    assert session.take() == [LOST, Told(token, None)]
    assert session.next_deadline() == 4_500
    session.advance(4_500)
    dial, hello = session.take()
    assert isinstance(dial, Dial)
    assert (dial.server, hello) == (2, Transmit(dial.connection, Hello(7, 6_000, 0)))
    # Nobody greets it: a third of the timeout each for three servers, then again half a second.
    session.advance(6_500)
    session.advance(7_000)
    (again, _) = session.take()
    assert isinstance(again, Dial)
    assert again.server == 0
    session.receive(7_001, connection, Pong())
    assert session.take() == []  # of a connection that was given up


def test_a_process_that_stood_still_reads_before_it_gives_up() -> None:
    """Late for its patience by a minute, it has a millisecond for what has come meanwhile."""
    session, connection = joined()
    session.advance(60_000)
    assert session.take() == [Transmit(connection, Ping())]
    assert session.state is SessionState.CONNECTED
    session.receive(60_000, connection, Pong())
    assert session.next_deadline() == 62_000

    deaf, _ = joined()
    deaf.advance(60_000)
    deaf.advance(60_001)
    assert deaf.take()[1:] == [LOST]


def test_watches_move_with_the_session() -> None:
    """Those that have not fired are set again at the next server, with what was seen last."""
    session, connection = joined()
    asked = [
        (Request(Api.EXISTS, "/there", watch=True), Reply()),
        (Request(Api.EXISTS, "/absent", watch=True), Reply(ZkError.NO_NODE)),
        (Request(Api.GET_DATA, "/data", watch=True), Reply(data="x")),
        (Request(Api.GET_CHILDREN, "/above", watch=True), Reply(children=("a",))),
        (Request(Api.GET_CHILDREN, "/gone", watch=True), Reply(ZkError.NO_NODE)),
        (Request(Api.GET_DATA, "/unwatched"), Reply()),
    ]
    for request, reply in asked:
        token = session.call(10, request)
        session.receive(10, connection, Answer(token, 4, reply))
    fired = WatchEvent(EventType.DATA_CHANGED, "/data")
    session.receive(11, connection, Notice(5, fired))
    assert session.take()[-1] == Fired(fired)
    session.receive(12, connection, HangUp())
    session.advance(512)
    dial = next(one for one in session.take() if isinstance(one, Dial))
    session.receive(513, dial.connection, Welcome(7, 6_000))
    watches = SetWatches(5, ("/there",), ("/absent",), ("/above",))
    assert session.take() == [Transmit(dial.connection, watches), CONNECTED]


def test_only_a_server_says_that_a_session_is_over() -> None:
    """Expired is the answer to Hello; the next session begins without watches."""
    session, connection = joined()
    token = session.call(10, Request(Api.EXISTS, "/a", watch=True))
    session.receive(10, connection, Answer(token, 4, Reply()))
    session.receive(11, connection, HangUp())
    session.advance(511)
    dial = next(one for one in session.take() if isinstance(one, Dial))
    session.receive(512, dial.connection, Expired())
    assert session.take() == [Entered(SessionState.EXPIRED)]
    assert session.next_deadline() is None
    session.connect(512)
    anew, hello = session.take()
    assert isinstance(anew, Dial)
    assert hello == Transmit(anew.connection, Hello(0, 6_000, 0))
    session.receive(513, anew.connection, Welcome(8, 6_000))
    assert session.take() == [CONNECTED]


def test_closing_waits_for_the_ensemble_or_for_its_patience() -> None:
    """The nodes go when the ensemble hears of it; who cannot reach it does not wait for long."""
    session, connection = joined()
    session.close(100)
    assert session.take() == [Transmit(connection, CloseSession())]
    session.receive(102, connection, HangUp())
    assert session.take() == [Entered(SessionState.CLOSED)]
    assert session.next_deadline() is None

    unheard, _ = joined()
    unheard.close(100)
    unheard.take()
    unheard.advance(4_100)
    assert unheard.take() == [Entered(SessionState.CLOSED)]

    apart, connection = joined()
    apart.receive(50, connection, HangUp())
    apart.take()
    apart.close(100)
    assert apart.take() == [Entered(SessionState.CLOSED)]
