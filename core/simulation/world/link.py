"""A process's way to the cluster: cut off, sent over again by TCP, closed and opened anew.

A cut loses packets. What was sent before the client gives up is sent again by TCP 200 ms, 600 ms,
1.4 s, ... after it was lost first, so the way opens some time after the cut is over.
A client that waited `request.timeout.ms` closes the connection; a new one is asked for at once,
then 1 s, 3 s, 7 s, ... later, until the time for setting it up is over and the next one is tried.
Most clients fetch records over a connection of their own, which has its own times.
A consumer of Java that has no broker left looks for its coordinator at the bootstrap server, over
the connection of its start as long as that is not closed for being idle (KIP-899, KIP-1102).
"""

from random import Random
from typing import Final

from kgroups.core.simulation.scenario.member_settings import MemberSettings
from kgroups.core.simulation.scenario.scenario_events import Lost

# A lost packet is sent again after this, then after twice this, ...: Linux's least RTO.
RESEND_MS: Final = 200
# The same of the packet that opens a connection.
FIRST_SYN_MS: Final = 1_000
# By how much a client varies the time for setting a connection up (KIP-601).
JITTER: Final = 0.2


class Link:
    """The way of one process.

    Attributes:
        number: of its connection; what was sent on an earlier one never arrives.
        opens_ms: what is sent before then passes then.
        reads_ms: records pass again then.
        bootstraps: whether the bootstrap server is asked first when the cut is over.
        finds_ms: until then the coordinator cannot be looked for.
    """

    def __init__(self, settings: MemberSettings, now_ms: int) -> None:
        self._settings = settings
        self._from_ms = self._until_ms = self.opens_ms = self.reads_ms = now_ms
        self.finds_ms = now_ms
        self._began_ms = now_ms
        self._apart = self.bootstraps = False
        # When each side's first packet was lost, of a connection that is kept and that carries no
        # records: those of one that does are lost at once.
        self._first: dict[Lost, int] | None = None
        self._stalls = False
        self._lost: Lost = "both"
        self.number = 0

    def cut(
        self,
        now_ms: int,
        until_ms: int,
        *,
        stalls: bool,
        lost: Lost = "both",
        apart: Random | None = None,
        waited_ms: float = 0.0,
        finds: bool = False,
        bootstraps: bool = False,
    ) -> None:
        """Nothing passes until then.

        Args:
            apart: chance of the connection that records come over; None: they share this one.
            waited_ms: how long a fetch waits at most; one is under way when the cut comes.
            finds: whether the coordinator is looked for over the connection that records come over.
            bootstraps: whether it is looked for at the bootstrap server once that one is given up.
            stalls: packets are kept, and pass as soon as the cut is over.
            lost: whose packets do not pass; the others do as long as the connection is kept.
        """
        self._lost = lost
        if self.opens_ms <= now_ms:
            self._from_ms, self._stalls = now_ms, stalls
        self._stalls = self._stalls and stalls
        self._until_ms = max(self._until_ms, until_ms)
        self._first = None if self._stalls or apart is None else {}
        self.opens_ms = self._until_ms if self._stalls else self._sent_again(self._from_ms)
        self.reads_ms = self.opens_ms
        self._apart = apart is not None
        if apart is None:
            return
        sent_ms = self._from_ms - round(waited_ms * apart.random())
        given_up_ms = sent_ms + self._settings.request_timeout_ms
        gives_up = given_up_ms < self.opens_ms
        if gives_up:
            self.reads_ms = self._connected(given_up_ms, apart)
        self.bootstraps = bootstraps and gives_up
        if self.bootstraps:
            self.finds_ms = self._bootstrapped(given_up_ms, apart)
        elif finds:
            # It has tried for so long that its attempts are as far apart as they can be.
            wait_ms = self._settings.retry_backoff_max_ms
            self.finds_ms = self.reads_ms + round(wait_ms * apart.random())

    def blocked_ms(self, now_ms: int, sender: Lost) -> int:
        """How long what is sent now waits until it passes; 0 or less: not at all."""
        if self._lost not in ("both", sender):
            return 0
        if self._first is None:
            return self.opens_ms - now_ms
        if now_ms < self._until_ms:
            self._first.setdefault(sender, now_ms)
        first_ms = self._first.get(sender)
        return 0 if first_ms is None else self._sent_again(first_ms) - now_ms

    def close(self, now_ms: int) -> None:
        """The client closes the connection and opens another."""
        self.number += 1
        # A new connection takes packets of both.
        self._lost = "both"
        self._first = None
        if self.opens_ms > now_ms:
            # Who looks for the coordinator elsewhere connects to it when it is found.
            self.opens_ms = self.finds_ms if self.bootstraps else self._connected(now_ms)
        if not self._apart:
            self.reads_ms = self.opens_ms

    def _sent_again(self, first_ms: int) -> int:
        """When TCP sends again what was lost first at `first_ms`, and the cut is over."""
        after_ms, resend_ms = 0, RESEND_MS
        while first_ms + after_ms < self._until_ms:
            after_ms += resend_ms
            resend_ms *= 2
        return first_ms + after_ms

    def _bootstrapped(self, asked_ms: int, random: Random) -> int:
        """When the bootstrap server hears who asks it from `asked_ms` on."""
        idle_ms = self._settings.connections_max_idle_ms
        if 0 < idle_ms <= asked_ms - self._began_ms:
            return self._connected(asked_ms, random)
        passes_ms = self._until_ms if self._stalls else self._sent_again(asked_ms)
        given_up_ms = asked_ms + self._settings.request_timeout_ms
        return passes_ms if passes_ms <= given_up_ms else self._connected(given_up_ms, random)

    def _connected(self, now_ms: int, random: Random | None = None) -> int:
        """When a connection that is asked for from now on is made."""
        settings = self._settings
        setup_ms = settings.connection_setup_timeout_ms
        backoff_ms = settings.reconnect_backoff_ms
        began_ms = now_ms
        while True:
            after_ms, resend_ms = 0, FIRST_SYN_MS
            patience_ms = setup_ms
            if random is not None:
                patience_ms = round(setup_ms * random.uniform(1 - JITTER, 1 + JITTER))
            while after_ms < patience_ms:
                if began_ms + after_ms >= self._until_ms:
                    return began_ms + after_ms
                after_ms += resend_ms
                resend_ms *= 2
            began_ms += patience_ms + backoff_ms
            setup_ms = min(2 * setup_ms, settings.connection_setup_timeout_max_ms)
            backoff_ms = min(2 * backoff_ms, settings.reconnect_backoff_max_ms)
