"""The token of a source: kept while it is good, and got anew before it expires.

A source is an endpoint, a file, a command, Amazon's signer, or ourselves.
"""

import asyncio
import base64
import binascii
import json
import os
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from kgroups.core.errors import UsageError, shorten
from kgroups.core.extras import require_extra
from kgroups.core.input_files.command_output import command_output
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.kafka.config.oauth import OAuthSettings, TokenSource
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.background import Abort, in_background
from kgroups.core.kafka.transport.logins.oidc import endpoint_name, token_of_endpoint
from kgroups.core.kafka.transport.logins.tokens import Token, no_token, token_of

_REGION: Final = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com")
_REGION_HINT: Final = "set AWS_REGION to the region of the cluster"
_CREDENTIALS_HINT: Final = (
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or `awsProfileName` in `sasl.jaas.config`"
)


def token_of_aws(settings: OAuthSettings, timeout_s: float, abort: Abort) -> Token:
    """A token for the cluster, signed here; only a role that is assumed asks Amazon.

    Raises:
        BrokerFailure: there are no credentials, or the region is not known.
        MissingExtraError: the signer is not installed.
    """
    require_extra("aws", "SASL `AWS_MSK_IAM`")
    region = _region_of(settings.place)
    try:
        text, end_ms = _signed(region, dict(settings.aws))
    except AttributeError as error:  # what the signer makes of no credentials
        raise no_token("there are no AWS credentials to sign with", _CREDENTIALS_HINT) from error
    except Exception as error:  # its library has a hundred of them, none with a secret in it
        said = f"{type(error).__name__}: {shorten(' '.join(str(error).split()))}"
        raise no_token(f"the AWS signer failed: {said}", _CREDENTIALS_HINT) from error
    return Token(text, _key_id(text), end_ms / 1_000, None, end_ms / 1_000 - _LIFE_S)


_LIFE_S: Final = 900.0
"""How long the signer's tokens live."""


def _signed(region: str, options: Mapping[str, str]) -> tuple[str, int]:
    """Token and the time when it expires, in epoch milliseconds."""
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider as Signer

    profile, role = options.get("awsProfileName"), options.get("awsRoleArn")
    signed: tuple[str, int]
    if role is not None:
        session = options.get("awsRoleSessionName", "kgroups")
        signed = Signer.generate_auth_token_from_role_arn(region, role, session)
    elif profile is not None:
        signed = Signer.generate_auth_token_from_profile(region, profile)
    else:
        signed = Signer.generate_auth_token(region)
    return signed


def _region_of(servers: str) -> str:
    """The region that the names of the brokers hold, or that the environment names."""
    named = _REGION.search(servers)
    region = named[1] if named else None
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region or not re.fullmatch(r"[a-z0-9-]+", region):
        raise no_token("the AWS region of the cluster is not known", _REGION_HINT)
    return region


def _key_id(text: str) -> str | None:
    """Id of the key that a token is signed with, which is no secret."""
    try:
        url = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    credential = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).get("X-Amz-Credential")
    return credential[0].partition("/")[0] if credential else None


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
                self._token = _SOURCES[self._settings.source](
                    self._settings, left_s, abort or Abort()
                )
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
