"""A token of an OpenID Connect provider, for a client id and a secret.

Source: RFC 6749, section 4.4, as Java's client asks (KIP-768, KIP-1139): the credentials are in the
header.
"""

import base64
import http.client
import json
import socket
import ssl
import time
import urllib.parse
from contextlib import closing, suppress
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

from kgroups.core.errors import KgroupsError, shorten
from kgroups.core.kafka.config.oauth import OAuthSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.background import Abort
from kgroups.core.kafka.transport.logins.tokens import Token, no_token, read_answer, token_of
from kgroups.core.kafka.transport.tls import make_context

MAX_BYTES: Final = 1 << 20
_REFUSED: Final = frozenset({400, 401, 403})


def token_of_endpoint(settings: OAuthSettings, timeout_s: float, abort: Abort) -> Token:
    """A token from the endpoint of the settings.

    Redirections are not followed: the secret is for this address alone.

    Args:
        timeout_s: for each step of the exchange.
        abort: ends it from outside.
    Raises:
        BrokerFailure: the endpoint cannot be reached, does not accept the client, or gives none.
        UsageError: the certificates to trust cannot be read.
    """
    name = endpoint_name(settings)
    try:
        status, data = _exchange(settings, timeout_s, abort)
    except ssl.SSLCertVerificationError as error:
        raise no_token(
            f"the certificate of the token endpoint {name} is not accepted: {error.verify_message}",
            "set `https.ca.location`, or `ssl.truststore.location` in `sasl.jaas.config`, to the "
            "certificate of its CA",
        ) from error
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise _unreachable(name, error) from error
    if status == 200:
        answer = read_answer(data, f"the token endpoint {name}")
        return token_of(json.dumps(answer), settings, f"the token endpoint {name}")
    raise _refused(settings, name, status, data)


def endpoint_name(settings: OAuthSettings) -> str:
    """The endpoint for messages: without user, password and query."""
    url = urllib.parse.urlsplit(settings.place)
    host = url.netloc.rpartition("@")[2]
    return f"`{shorten(f'{url.scheme}://{host}{url.path}')}`"


def _exchange(settings: OAuthSettings, timeout_s: float, abort: Abort) -> tuple[int, bytes]:
    """Status and body of the answer."""
    end = time.monotonic() + timeout_s
    url = urllib.parse.urlsplit(settings.place)
    fields = {"grant_type": "client_credentials"}
    if settings.scope:
        fields["scope"] = settings.scope
    headers = {
        "Accept": "application/json",
        "Authorization": f"Basic {_credentials(settings)}",
        "Content-Type": "application/x-www-form-urlencoded",
        "User-Agent": "kgroups",
    }
    path = urllib.parse.urlunsplit(("", "", url.path or "/", url.query, ""))
    with closing(_connection(settings, url, timeout_s)) as connection:
        connection.connect()
        channel: socket.socket = connection.sock
        abort.by(lambda: _hang_up(channel))
        channel.settimeout(max(0.001, end - time.monotonic()))
        connection.request("POST", path, urllib.parse.urlencode(fields), headers)
        answer = connection.getresponse()
        data = answer.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise http.client.HTTPException("the answer is too long")
        return answer.status, data


def _hang_up(channel: socket.socket) -> None:
    with suppress(OSError):
        channel.shutdown(socket.SHUT_RDWR)


def _connection(
    settings: OAuthSettings, url: urllib.parse.SplitResult, timeout_s: float
) -> http.client.HTTPConnection:
    """A connection to the endpoint, or through the proxy that the environment names."""
    host, port = url.hostname or "", url.port
    proxy = None if proxy_bypass(host) else getproxies().get(url.scheme)
    secure = url.scheme == "https"
    options: dict[str, Any] = {"timeout": timeout_s}
    if secure:
        options["context"] = make_context(settings.tls)
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    if proxy is None:
        return kind(host, port, **options)
    via = urllib.parse.urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    connection = kind(via.hostname or "", via.port or 8080, **options)
    headers = {}
    if via.username is not None:
        pair = f"{urllib.parse.unquote(via.username)}:{urllib.parse.unquote(via.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    connection.set_tunnel(host, port, headers)
    return connection


def _credentials(settings: OAuthSettings) -> str:
    pair = [settings.client_id or "", settings.client_secret or ""]
    if settings.is_url_encoded:
        pair = [urllib.parse.quote_plus(part) for part in pair]
    return base64.b64encode(":".join(pair).encode()).decode()


def _unreachable(name: str, error: Exception) -> BrokerFailure:
    if isinstance(error, UnicodeError | socket.gaierror):
        reason, hint = "the host name is not known", "check the spelling of its host"
    elif isinstance(error, ConnectionRefusedError):
        reason, hint = "connection refused", "check its port, and that it is running"
    elif isinstance(error, TimeoutError):
        reason, hint = "timed out", "check its address, or increase `--timeout`"
    else:
        is_system = isinstance(error, OSError) and not isinstance(error, ssl.SSLError)
        said = (getattr(error, "strerror", None) if is_system else None) or str(error)
        reason, hint = shorten((said or type(error).__name__).lower()), "check its URL"
    return no_token(f"the token endpoint {name} cannot be reached: {reason}", hint)


def _refused(settings: OAuthSettings, name: str, status: int, data: bytes) -> BrokerFailure:
    """The error in an answer other than a token (RFC 6749, section 5.2)."""
    said = ""
    with suppress(KgroupsError, BrokerFailure):
        answer = read_answer(data, name)
        parts = [answer.get(key) for key in ("error", "error_description")]
        said = ": ".join(" ".join(str(part).split()) for part in parts if part)
    for secret in (settings.client_secret, _credentials(settings)):
        said = said.replace(secret, "…") if secret else said
    reason = f"HTTP {status}" + (f", {shorten(said)}" if said else "")
    if status in _REFUSED:
        return no_token(
            f"the token endpoint {name} rejected the client `{settings.client_id}`: {reason}",
            "check the client id, the client secret and the scope",
        )
    return no_token(f"the token endpoint {name} answered {reason}", "check its URL")
