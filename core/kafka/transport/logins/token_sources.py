"""Where a token comes from: an endpoint, a file, a command, Amazon's signer, or ourselves."""

import base64
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.command_output import command_output
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.kafka.config.oauth import OAuthSettings, TokenSource
from kgroups.core.kafka.transport.background import Abort
from kgroups.core.kafka.transport.logins.msk import token_of_aws
from kgroups.core.kafka.transport.logins.oidc import endpoint_name, token_of_endpoint
from kgroups.core.kafka.transport.logins.tokens import Token, no_token, token_of

Source = Callable[[OAuthSettings, float, Abort], Token]

_MAX_BYTES: Final = MIB // 16


def obtain_token(settings: OAuthSettings, timeout_s: float, abort: Abort) -> Token:
    """A new token of whatever source the settings name.

    Args:
        timeout_s: until it is given up.
        abort: ends the wait earlier.
    Raises:
        BrokerFailure: there is none to be had.
    """
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
