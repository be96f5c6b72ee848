"""The token of a source: kept while it is good, and got anew before it expires.

A source is an endpoint, a file, a command, Amazon's signer, or ourselves.
"""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.command_output import command_output
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.kafka.config.oauth import OAuthSettings, TokenSource
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.background import Abort, in_background
from kgroups.core.kafka.transport.logins.msk import token_of_aws
from kgroups.core.kafka.transport.logins.oidc import endpoint_name, token_of_endpoint
from kgroups.core.kafka.transport.logins.tokens import Token, no_token, token_of

Source = Callable[[OAuthSettings, float, Abort], Token]

_MAX_BYTES: Final = MIB // 16


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
                self._token = _obtain(self._settings, left_s, abort or Abort())
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


def _obtain(settings: OAuthSettings, timeout_s: float, abort: Abort) -> Token:
    """A new token of whatever source the settings name."""
    return _SOURCES[settings.source](settings, timeout_s, abort)


def name_of(settings: OAuthSettings) -> str:
    """The source in words, without a secret."""
    if settings.source == "oidc":
        return f"the token endpoint {endpoint_name(settings)}"
    if settings.source == "file":
        return f"the token file `{settings.place}`"
    if settings.source == "command":
        return f"the token command `{shorten(settings.place.split()[0])}`"
    return "the AWS signer" if settings.source == "aws" else "the unsecured token"


def _of_file(settings: OAuthSettings, timeout_s: float, abort: Abort) -> Token:
    path = Path(settings.place)
    try:
        text = read_text(path, _MAX_BYTES, "a file with nothing but a token")
    except UsageError as error:
        raise no_token(error.message, error.hint) from error
    return token_of(text, settings, name_of(settings))


def _of_command(settings: OAuthSettings, timeout_s: float, abort: Abort) -> Token:
    try:
        text = command_output(settings.place, timeout_s, abort.by)
    except UsageError as error:
        raise no_token(f"no token: {error.message}", error.hint) from error
    return token_of(text, settings, name_of(settings))


def _unsecured(settings: OAuthSettings, timeout_s: float, abort: Abort) -> Token:
    """A token that anybody could make, for tests (KIP-255)."""
    now = time.time()
    claims: dict[str, object] = dict(settings.claims)
    claims |= {"iat": now, "exp": now + settings.lifetime_s}
    if settings.scope:
        claims["scope"] = settings.scope.split(",")
    text = f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."
    return token_of(text, settings, name_of(settings))


def _encoded(part: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


_SOURCES: Final[Mapping[TokenSource, Source]] = {
    "oidc": token_of_endpoint,
    "file": _of_file,
    "command": _of_command,
    "unsecured": _unsecured,
    "aws": token_of_aws,
}
