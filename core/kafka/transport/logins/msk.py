"""Tokens for Amazon MSK: a request that is signed with AWS credentials, by Amazon's own signer.

Brokers take them by OAUTHBEARER, as they take Java's `AWS_MSK_IAM` by a mechanism of its own.
"""

import base64
import binascii
import os
import re
import urllib.parse
from collections.abc import Mapping
from typing import Final

from kgroups.core.errors import shorten
from kgroups.core.extras import require_extra
from kgroups.core.kafka.config.oauth import OAuthSettings
from kgroups.core.kafka.transport.background import Abort
from kgroups.core.kafka.transport.logins.tokens import Token, no_token

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
