"""The client's half of OAUTHBEARER (RFC 7628)."""

import json
import time
from collections.abc import Generator
from contextlib import suppress

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.oauth import OAuthSettings
from kgroups.core.kafka.transport.logins.mechanism import LoginError
from kgroups.core.kafka.transport.logins.tokens import Token, utc_text

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
        found = json.loads(answer)
    except ValueError:
        return None
    status = found.get("status") if isinstance(found, dict) else None
    return shorten(str(status), 100) if status else None


def doubt_of(token: Token) -> tuple[str, str] | None:
    """What may be wrong with a token that a broker refused, by our clock: words and hint."""
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
