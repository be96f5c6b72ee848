"""Where the tokens of OAUTHBEARER come from, as properties of Java or librdkafka say it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from kgroups.core.errors import UsageError
from kgroups.core.input_files.command_output import check_owner
from kgroups.core.input_files.properties import Property
from kgroups.core.kafka.config.tls import TlsSettings

TokenSource = Literal["oidc", "file", "command", "unsecured", "aws"]

ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"
_METHODS: Final[Mapping[str, str]] = {
    "sasl.oauthbearer.grant.type": "client_credentials",
    "sasl.oauthbearer.metadata.authentication.type": "none",
}
"""Ways to a token that only librdkafka knows, unless they have these values."""

_HINT: Final = (
    f"set `{ENDPOINT}` to the URL of an OpenID Connect token endpoint, `file:PATH` or "
    "`exec:COMMAND`"
)
_CLIENT_HINT: Final = (
    "set `sasl.oauthbearer.client.credentials.client.id` and `…client.secret`, "
    "`sasl.oauthbearer.client.id` and `…client.secret`, or `clientId` and `clientSecret` in "
    "`sasl.jaas.config`"
)
_UNSECURED: Final = "enable.sasl.oauthbearer.unsecure.jwt"
_LIFETIME_S: Final = 3_600
AWS_OPTIONS: Final = ("awsProfileName", "awsRoleArn", "awsRoleSessionName")
_AWS_HANDLERS: Final = ("IAMClientCallbackHandler", "IAMOAuthBearerLoginCallbackHandler")
_EXTENSION_NAME: Final = re.compile(r"[A-Za-z]+")
_EXTENSION_VALUE: Final = re.compile(r"[\x21-\x7e \t\r\n]+")


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """How to get a token; it can be hashed and pickled.

    Args:
        place: URL of the endpoint, path of the file, the command, the brokers' addresses (`aws`).
        client_id, client_secret: for the endpoint.
        scope: asked of the endpoint, or written into an unsecured token.
        extensions: SASL extensions (RFC 7628), sent with the token.
        is_url_encoded: whether id and secret are percent-encoded in the header (KIP-1025).
        tls: which certificates to trust at the endpoint.
        claims: of an unsecured token: name and value, a text or a number.
        lifetime_s: of an unsecured token.
        principal_claim: which claim says who we are.
        aws: profile, role and session for the signer, by the names of Amazon's login module.
    """

    source: TokenSource
    place: str = field(default="", repr=False)
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None
    extensions: tuple[tuple[str, str], ...] = ()
    is_url_encoded: bool = False
    tls: TlsSettings = field(default_factory=TlsSettings)
    claims: tuple[tuple[str, str | float], ...] = ()
    lifetime_s: int = _LIFETIME_S
    principal_claim: str = "sub"
    aws: tuple[tuple[str, str], ...] = ()


def is_of_aws(given: Mapping[str, Property], mechanism: str | None) -> bool:
    """Whether the properties are those of Amazon's library: its mechanism, or its handlers."""
    handlers = ("sasl.client.callback.handler.class", "sasl.login.callback.handler.class")
    named = [given[name].value.rpartition(".")[2] for name in handlers if name in given]
    return mechanism == "AWS_MSK_IAM" or any(handler in _AWS_HANDLERS for handler in named)


def oauth_obstacle(given: Mapping[str, Property]) -> str | None:
    """The property that asks for a token in a way that only librdkafka has; None if none does."""
    for name, ours in _METHODS.items():
        if name in given and given[name].value.lower() != ours:
            return f"`{name}={given[name].value}`"
    return None


def aws_of(
    given: Mapping[str, Property], options: Mapping[str, str], servers: str
) -> OAuthSettings:
    """How tokens for Amazon MSK are signed.

    Args:
        options: of `sasl.jaas.config`.
        servers: the brokers' addresses, whose names tell the region.
    Raises:
        UsageError: the login module has an option that Amazon's signer for Python has not.
    """
    for name in options:
        if name not in AWS_OPTIONS:
            place = given["sasl.jaas.config"].place
            raise UsageError(
                f"{place}: `{name[:30]}` is not an option that the AWS signer has",
                hint=f"expected {', '.join(AWS_OPTIONS)}; or set a profile in ~/.aws/config",
            )
    return OAuthSettings("aws", servers, aws=tuple(sorted(options.items())))


def oauth_of(given: Mapping[str, Property], options: Mapping[str, str]) -> OAuthSettings:
    """Where tokens come from.

    Args:
        given: the properties, in either spelling.
        options: of `sasl.jaas.config`.
    Raises:
        UsageError: the properties do not say it, or what they say cannot be understood.
    """
    extensions = _extensions(given, options)
    if given.get(_UNSECURED, _NOTHING).value.lower() == "true":
        return _unsecured_of_librdkafka(given.get("sasl.oauthbearer.config", _NOTHING).value)
    endpoint = given.get(ENDPOINT)
    if endpoint is None:
        if any(name.startswith("unsecuredLogin") for name in options):
            return _unsecured_of_java(options, extensions)
        raise UsageError("SASL `OAUTHBEARER` needs to know where to get a token", hint=_HINT)
    kind, _, rest = endpoint.value.partition(":")
    if kind == "exec":
        return OAuthSettings("command", _command_of(endpoint, rest), extensions=extensions)
    if kind == "file":
        path = re.sub(r"^//(localhost)?(?=/)", "", rest)
        return OAuthSettings("file", path, extensions=extensions)
    if kind not in ("http", "https") or not rest.startswith("//"):
        raise UsageError(f"{endpoint.place}: `{ENDPOINT}` is not a URL", hint=_HINT)
    return _oidc(given, options, endpoint, extensions)


_NOTHING: Final = Property("", "", None)


def _first(given: Mapping[str, Property], *names: str) -> str | None:
    """The first of these properties that is given."""
    return next((given[name].value for name in names if name in given), None)


def _oidc(
    given: Mapping[str, Property],
    options: Mapping[str, str],
    endpoint: Property,
    extensions: tuple[tuple[str, str], ...],
) -> OAuthSettings:
    client = "sasl.oauthbearer.client"
    client_id = _first(given, f"{client}.credentials.client.id", f"{client}.id")
    client_secret = _first(given, f"{client}.credentials.client.secret", f"{client}.secret")
    client_id = client_id or options.get("clientId")
    client_secret = client_secret or options.get("clientSecret")
    if client_id is None or client_secret is None:
        raise UsageError(
            f"{endpoint.place}: the token endpoint needs a client id and a client secret",
            hint=_CLIENT_HINT,
        )
    encoded = given.get("sasl.oauthbearer.header.urlencode", _NOTHING).value.lower() == "true"
    return OAuthSettings(
        "oidc",
        endpoint.value,
        client_id=client_id,
        client_secret=client_secret,
        scope=_first(given, "sasl.oauthbearer.scope") or options.get("scope"),
        extensions=extensions,
        is_url_encoded=encoded,
        tls=TlsSettings(
            ca_file=_first(given, "https.ca.location") or options.get("ssl.truststore.location"),
            ca_pem=_first(given, "https.ca.pem") or options.get("ssl.truststore.certificates"),
            ca_password=options.get("ssl.truststore.password"),
        ),
    )


def _command_of(endpoint: Property, rest: str) -> str:
    if not rest.strip():
        raise UsageError(f"{endpoint.place}: `exec:` has nothing after it")
    if endpoint.line is not None:
        try:
            check_owner(Path(endpoint.source))
        except OSError:
            pass  # it is no file
        except UsageError as error:
            raise UsageError(f"{endpoint.place}: {error.message}", hint=error.hint) from error
    return rest.strip()


def _extensions(
    given: Mapping[str, Property], options: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """SASL extensions of either spelling.

    Raises:
        UsageError: one is not what RFC 7628 allows.
    """
    extensions = {
        name.removeprefix("extension_"): value
        for name, value in options.items()
        if name.startswith("extension_")
    }
    listed = given.get("sasl.oauthbearer.extensions")
    if listed is not None:
        extensions |= _pairs(listed.value.split(","))
    return _checked(extensions)


def _checked(extensions: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for name, value in extensions.items():
        named = _EXTENSION_NAME.fullmatch(name) and name != "auth"
        if not named or not _EXTENSION_VALUE.fullmatch(value):
            raise UsageError(
                f"SASL extension `{name[:30]}` is not one that RFC 7628 allows",
                hint="expected a name of letters other than `auth`, and a printable value",
            )
    return tuple(sorted(extensions.items()))


def _pairs(items: Iterable[str]) -> dict[str, str]:
    """`name=value` of each item that is not empty."""
    parts = (item.strip().partition("=") for item in items if item.strip())
    return {name.strip(): value.strip() for name, _, value in parts}


def _unsecured_of_librdkafka(config: str) -> OAuthSettings:
    """`principal=alice scope=a,b lifeSeconds=60 extension_k=v`, separated by blanks."""
    pairs = _pairs(config.split())
    claim = pairs.get("principalClaimName", "sub")
    claims: dict[str, str | float] = {claim: pairs.get("principal", "")}
    return OAuthSettings(
        "unsecured",
        scope=pairs.get("scope"),
        extensions=_checked(
            {
                name.removeprefix("extension_"): value
                for name, value in pairs.items()
                if name.startswith("extension_")
            }
        ),
        claims=tuple(claims.items()),
        lifetime_s=_seconds("lifeSeconds", pairs.get("lifeSeconds")),
        principal_claim=claim,
    )


def _unsecured_of_java(
    options: Mapping[str, str], extensions: tuple[tuple[str, str], ...]
) -> OAuthSettings:
    """The options of Java's login module: `unsecuredLoginStringClaim_sub="alice"`."""
    claims: dict[str, str | float] = {}
    for name, value in options.items():
        if name.startswith("unsecuredLoginStringClaim_"):
            claims[name.removeprefix("unsecuredLoginStringClaim_")] = value
        elif name.startswith("unsecuredLoginNumberClaim_"):
            claims[name.removeprefix("unsecuredLoginNumberClaim_")] = _number(name, value)
    return OAuthSettings(
        "unsecured",
        scope=options.get("scope"),
        extensions=extensions,
        claims=tuple(claims.items()),
        lifetime_s=_seconds(
            "unsecuredLoginLifetimeSeconds", options.get("unsecuredLoginLifetimeSeconds")
        ),
        principal_claim=options.get("unsecuredLoginPrincipalClaimName", "sub"),
    )


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"`{name}` is not a number") from error


def _seconds(name: str, text: str | None) -> int:
    if text is None:
        return _LIFETIME_S
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"`{name}` is not a number of seconds")
    return int(text)
