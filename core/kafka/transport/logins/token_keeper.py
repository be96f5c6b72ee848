"""The token of a source: kept while it is good, and got anew before it expires."""

import asyncio
import threading
import time
from functools import cache

from kgroups.core.kafka.config.oauth import OAuthSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.background import Abort, in_background
from kgroups.core.kafka.transport.logins.token_sources import name_of, obtain_token
from kgroups.core.kafka.transport.logins.tokens import Token, no_token


class TokenKeeper:
    """The token of one source, for all connections of the process; safe for threads."""

    def __init__(self, settings: OAuthSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._token: Token | None = None

    async def token(self, deadline: float) -> Token:
        """A token that is good for now.

        Args:
            deadline: on the event loop's clock, seconds.
        Raises:
            BrokerFailure: there is none to be had in time.
            MissingExtraError: what makes it is not installed.
        """
        kept = self._token
        if kept is not None and kept.is_fresh:
            return kept
        left_s = deadline - asyncio.get_running_loop().time()
        try:
            return await in_background(lambda abort: self.obtain(left_s, abort), deadline)
        except TimeoutError as error:
            raise _too_late(self._settings) from error

    def obtain(self, timeout_s: float, abort: Abort | None = None) -> Token:
        """The same, waited for here.

        One that was not refreshed in time is used as long as it lasts.
        """
        end = time.monotonic() + timeout_s
        if not self._lock.acquire(timeout=max(0.0, timeout_s)):
            raise _too_late(self._settings)
        try:
            kept = self._token
            if kept is not None and kept.is_fresh:
                return kept
            try:
                left_s = end - time.monotonic()
                self._token = obtain_token(self._settings, left_s, abort or Abort())
            except BrokerFailure:
                if kept is None or kept.expires_at is None or kept.has_expired:
                    raise
            assert self._token is not None
            return self._token
        finally:
            self._lock.release()

    def forget(self, token: Token) -> None:
        """Does not use a token again that a broker refused."""
        if self._token is token:
            self._token = None


@cache
def keeper_of(settings: OAuthSettings) -> TokenKeeper:
    """The keeper of the tokens that the settings describe."""
    return TokenKeeper(settings)


def _too_late(settings: OAuthSettings) -> BrokerFailure:
    """The source of tokens did not answer in time."""
    hint = "check that it works by hand, or increase `--timeout`"
    return no_token(f"{name_of(settings)} did not give a token in time", hint)
