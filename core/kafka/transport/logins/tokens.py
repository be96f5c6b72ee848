"""Tokens of OAUTHBEARER, what can be told of them, and the login with one (RFC 7628)."""

import base64
import binascii
import datetime
import json
import re
import time
from collections.abc import Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.oauth import OAuthSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.logins.mechanism import LoginError

CODE: Final = "TOKEN_NOT_AVAILABLE"
REFRESH_AFTER: Final = 0.8
"""Of a token's life, as Java's `sasl.login.refresh.window.factor`."""

_TOKEN: Final = re.compile(r"[-._~+/A-Za-z0-9]+=*")  # RFC 6750, section 2.1
_LONGEST: Final = 1 << 16
_YEAR_10_000: Final = 253_402_300_800


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token, and what can be told of it.

    Args:
        principal: whom it is for, as far as it says; brokers decide by their own settings.
        expires_at, begins_at: in epoch seconds; None where it does not say.
        obtained_at: in epoch seconds.
    """

    text: str = field(repr=False)
    principal: str | None = None
    expires_at: float | None = None
    begins_at: float | None = None
    obtained_at: float = 0.0

    @property
    def is_fresh(self) -> bool:
        """Whether it has most of its life before it; never known of one without an end."""
        if self.expires_at is None:
            return False
        life = self.expires_at - self.obtained_at
        return time.time() < self.obtained_at + REFRESH_AFTER * life

    @property
    def has_expired(self) -> bool:
        """By our clock."""
        return self.expires_at is not None and self.expires_at <= time.time()


def token_of(text: str, settings: OAuthSettings, source: str) -> Token:
    """The token that a source gave.

    Args:
        text: the token, or an answer of a token endpoint (RFC 6749, section 5.1) as JSON.
        source: who gave it, for messages.
    Raises:
        BrokerFailure: it is neither.
    """
    now = time.time()
    end: float | None = None
    text = text.strip()
    if text.startswith("{"):
        answer = read_answer(text.encode(), source)
        lifetime = answer.get("expires_in")
        if isinstance(lifetime, int | float):
            end = _time(now + lifetime)
        text = str(answer.get("access_token") or "")
    if not _TOKEN.fullmatch(text) or len(text) > _LONGEST:
        raise no_token(f"{source} gave no token", "expected a bearer token, as a rule a JWT")
    claims = _claims_of(text)
    own_end, begin = (_time(claims.get(name)) for name in ("exp", "nbf"))
    principal = claims.get(settings.principal_claim)
    return Token(
        text,
        shorten(str(principal), 100) if principal else settings.client_id,
        own_end if own_end is not None else end,
        begin if begin is not None else _time(claims.get("iat")),
        now,
    )


def read_answer(data: bytes, source: str) -> Mapping[str, Any]:
    """The JSON object that a token endpoint answers.

    Raises:
        BrokerFailure: it is none.
    """
    try:
        document = json.loads(data)
    except ValueError:  # what it holds may be a token: it is not told
        document = None
    if not isinstance(document, dict):
        raise no_token(f"{source} did not answer with a JSON object", "check its URL")
    return document


def no_token(message: str, hint: str | None = None) -> BrokerFailure:
    """Why there is no token; another broker would not help."""
    return BrokerFailure(CODE, message, hint=hint, fatal=True)


def _claims_of(text: str) -> Mapping[str, Any]:
    """The claims of a JWT, unverified; none of another token."""
    parts = text.split(".")
    if len(parts) != 3:
        return {}
    try:
        data = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = json.loads(data)
    except (binascii.Error, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}


def _time(value: Any) -> float | None:
    """Epoch seconds of a claim; None for what is no time before the year 10,000."""
    is_time = isinstance(value, int | float) and 0 <= value < _YEAR_10_000
    return float(value) if is_time else None


def utc_text(epoch_s: float) -> str:
    """A time for messages."""
    moment = datetime.datetime.fromtimestamp(epoch_s, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


_SEPARATOR = "\x01"


def oauthbearer(token: Token, settings: OAuthSettings) -> Generator[bytes, bytes, None]:
    """The messages of a login with a token, and its SASL extensions (KIP-342).

    Raises:
        LoginError: the broker refused it.
    """
    fields = [
        f"auth=Bearer {token.text}",
        *(f"{name}={text}" for name, text in settings.extensions),
    ]
    refusal = yield f"n,,{_SEPARATOR}{_SEPARATOR.join(fields)}{_SEPARATOR * 2}".encode()
    if refusal:
        with suppress(LoginError):  # as a rule the broker fails the login only now
            yield _SEPARATOR.encode()
        raise LoginError(refusal_of(refusal))


def refusal_of(answer: bytes) -> str | None:
    """The status that a broker gave as its reason."""
    try:
        document = json.loads(answer)
    except ValueError:
        return None
    status = document.get("status") if isinstance(document, dict) else None
    return shorten(str(status), 100) if status else None


def doubt_of(token: Token) -> tuple[str, str] | None:
    """Possible fault of a token that a broker refused, by our clock: words and hint."""
    now = time.time()
    if token.expires_at is not None and token.expires_at <= now:
        when = utc_text(token.expires_at)
        return f"the token expired on {when}", "get a new token, and check this machine's clock"
    if token.begins_at is not None and token.begins_at > now:
        when = utc_text(token.begins_at)
        return (
            f"the token is not valid before {when}",
            "check the clocks of this machine and of the token's issuer",
        )
    return None
