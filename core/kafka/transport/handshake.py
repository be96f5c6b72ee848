"""Why TLS failed: from the alert of the other side, or by a second look at its certificate.

Python tells a certificate apart only after it was verified, so the broker is asked twice more: for
the bytes of its certificate, then with that certificate as its own authority. Nothing is sent over
these connections.
"""

import asyncio
import datetime
import ssl
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.stores import expiry_of
from kgroups.core.kafka.config.tls import TlsSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.inbox import address_text
from kgroups.core.kafka.transport.tcp import close, connect

CODE: Final = "SSL_HANDSHAKE_FAILED"
LOOK_S: Final = 2.0
NAMED: Final = 5
LONGEST_NAME: Final = 100
_GREETING: Final = 1 << 16

# OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which Python's ssl does not name.
_NO_CHECK_TIME: Final = 0x200000

# OpenSSL's numbers of what is wrong with a certificate (X509_V_ERR_...).
NOT_YET_VALID, EXPIRED, SELF_SIGNED = 9, 10, 18
OTHER_HOST: Final = frozenset({62, 64})
UNTRUSTED: Final = frozenset({2, SELF_SIGNED, 19, 20, 21})

_TRUST: Final = "set `ssl.truststore.location` (`ssl.ca.location`) to "
_IDENTITY: Final = (
    "set `ssl.keystore.location`, or `ssl.certificate.location` and `ssl.key.location`"
)
_OUR_CERTIFICATE: Final = "the broker must trust its issuer, and it must not have expired"
_PLAIN: Final = (
    "the listener may not use TLS: check the port, or set `security.protocol` to PLAINTEXT or "
    "SASL_PLAINTEXT"
)

Certificate = Mapping[str, Any]
"""A certificate as `ssl.SSLSocket.getpeercert` gives it; empty if it could not be read."""


async def why_no_tls(
    address: tuple[str, int], error: Exception, tls: TlsSettings, deadline: float
) -> BrokerFailure | None:
    """Why there is no TLS; None where there is not even a connection.

    Args:
        address: host and port that were connected to.
        error: from the attempt.
        tls: what was offered.
        deadline: seconds of `time.monotonic`.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return await bad_certificate(address, error, deadline)
    if isinstance(error, ssl.SSLError | ConnectionResetError | BrokenPipeError | EOFError):
        return no_handshake(address_text(address), error, tls)
    return None


async def speaks_tls(address: tuple[str, int], deadline: float) -> bool:
    """Whether a port that hung up on plain words answers to a TLS greeting."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # nothing is sent over it: only the answer matters
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    greeting = context.wrap_bio(incoming, outgoing)
    try:
        async with asyncio.timeout_at(deadline):
            reader, writer = await connect(address, None, deadline)
            try:
                return await _greet(greeting, incoming, outgoing, reader, writer)
            finally:
                await close(writer)
    except OSError:
        return False


async def _greet(
    greeting: ssl.SSLObject,
    incoming: ssl.MemoryBIO,
    outgoing: ssl.MemoryBIO,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> bool:
    """Whether the other side goes on with the handshake, or refuses it as TLS does."""
    while True:
        try:
            greeting.do_handshake()
        except ssl.SSLWantReadError:
            writer.write(outgoing.read())
            answer = await reader.read(_GREETING)
            if not answer:
                return False
            incoming.write(answer)
        except ssl.SSLError as error:
            return "ALERT" in (error.reason or "")
        else:
            return True


async def bad_certificate(
    address: tuple[str, int], error: ssl.SSLCertVerificationError, deadline: float
) -> BrokerFailure:
    """Why the broker's certificate is not accepted.

    Args:
        address: host and port that were connected to.
        error: from the failed handshake.
        deadline: seconds of `time.monotonic`; the second look takes `LOOK_S` at most.
    """
    certificate = await _read_certificate(address, deadline)
    message, hint = _words(address, error, certificate)
    # Another broker may well have a certificate that is for it, or still valid.
    is_fatal = error.verify_code in UNTRUSTED
    name = address_text(address)
    return BrokerFailure(CODE, message, hint=hint, address=name, fatal=is_fatal)


def _words(
    address: tuple[str, int], error: ssl.SSLCertVerificationError, certificate: Certificate
) -> tuple[str, str]:
    """Sentence and hint."""
    host, name = shorten(address[0], LONGEST_NAME), address_text(address)
    ends, begins = (_time_of(certificate, key) for key in ("notAfter", "notBefore"))
    now = datetime.datetime.now(datetime.UTC)
    if error.verify_code == EXPIRED:
        if ends is not None and ends > now:
            return (
                f"a CA certificate in the chain of {name} has expired",
                "renew the CA certificate on the broker and in your trust store",
            )
        when = "has expired" if ends is None else f"expired on {_text_of(ends)}"
        return f"the certificate of {name} {when}", "renew the broker's certificate"
    if error.verify_code == NOT_YET_VALID:
        when = "yet" if begins is None else f"before {_text_of(begins)}"
        return f"the certificate of {name} is not valid {when}", "check this machine's clock"
    if error.verify_code in OTHER_HOST:
        names = _names_of(certificate)
        said = f", only for {_listed(names)}" if names else ""
        return (
            f"the certificate of {name} is not for `{host}`{said}",
            (
                "use a name from the certificate, in `--bootstrap-server` and in the broker's "
                "`advertised.listeners`"
            ),
        )
    if error.verify_code in UNTRUSTED:
        issuer = _common_name(certificate.get("issuer", ()))
        if issuer is None:
            said, whom = "", "the CA that issued it"
        elif certificate.get("issuer") == certificate.get("subject"):
            said, whom = ": it is self-signed", "that certificate"
        else:
            said, whom = f": it was issued by `{issuer}`", "the certificate of that CA"
        return f"the certificate of {name} is not trusted{said}", f"{_TRUST}{whom}"
    return (
        f"the certificate of {name} is not accepted: {error.verify_message}",
        "the broker needs a different certificate",
    )


def no_handshake(address: str, error: Exception, tls: TlsSettings) -> BrokerFailure:
    """Why there is no TLS connection, though the broker's certificate is fine.

    Args:
        address: `host:port`.
        error: from the handshake, or from what was read first after it.
        tls: what was offered.
    """
    reason = str(getattr(error, "reason", None) or "")
    alert = reason.partition("ALERT_")[2].replace("_", " ").lower()
    if "VERSION" in reason or reason == "UNSUPPORTED_PROTOCOL":
        message = f"{address} and kgroups have no TLS version in common"
        hint = "the broker's `ssl.enabled.protocols` must include TLSv1.2 or TLSv1.3"
    elif not tls.has_identity and alert in ("certificate required", "bad certificate"):
        message, hint = f"{address} requires a client certificate", _IDENTITY
    elif tls.has_identity and ("certificate" in alert or "unknown ca" in alert):
        end = expiry_of(tls)
        why = alert if end is None else f"it expired on {end}"
        message = f"{address} rejected the client certificate: {why}"
        hint = _OUR_CERTIFICATE
    elif alert:
        message = f"{address} refused the TLS handshake: {alert}"
        hint = "it may require a client certificate or another TLS version"
    else:
        message, hint = f"{address} does not speak TLS", _PLAIN
    return BrokerFailure(CODE, message, hint=hint, address=address, fatal=bool(reason))


async def _read_certificate(address: tuple[str, int], deadline: float) -> Certificate:
    """The certificate that the broker shows; empty if it cannot be had."""
    limit = min(deadline, time.monotonic() + LOOK_S)
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    shown = await _peer_certificate(address, blind, limit, as_bytes=True)
    if not shown:
        return {}
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VerifyFlags(_NO_CHECK_TIME)
    try:
        trusting.load_verify_locations(cadata=shown)
    except ssl.SSLError:
        return {}
    return await _peer_certificate(address, trusting, limit, as_bytes=False) or {}


async def _peer_certificate(
    address: tuple[str, int], context: ssl.SSLContext, deadline: float, *, as_bytes: bool
) -> Any:
    """What a new connection is shown, as DER or taken apart; None without a connection."""
    try:
        _, writer = await connect(address, context, deadline)
    except (OSError, EOFError, UnicodeError):
        return None
    connection: ssl.SSLObject = writer.get_extra_info("ssl_object")
    shown = connection.getpeercert(binary_form=as_bytes)
    await close(writer)
    return shown


def _time_of(certificate: Certificate, key: str) -> datetime.datetime | None:
    text = certificate.get(key)
    if text is None:
        return None
    return datetime.datetime.fromtimestamp(ssl.cert_time_to_seconds(text), datetime.UTC)


def _text_of(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def _names_of(certificate: Certificate) -> list[str]:
    """Hosts and addresses that the certificate is for."""
    names = [value for kind, value in certificate.get("subjectAltName", ()) if kind in _HOST_KINDS]
    common = _common_name(certificate.get("subject", ()))
    return names or ([common] if common else [])


_HOST_KINDS: Final = frozenset({"DNS", "IP Address"})


def _listed(names: list[str]) -> str:
    """The first few names; a certificate may have hundreds."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(f"`{shorten(name, LONGEST_NAME)}`" for name in names[:NAMED]) + more


def _common_name(name: Any) -> str | None:
    """The common name in a distinguished one, else its last part; None if it is empty."""
    parts = list(_parts(name))
    found = [value for kind, value in parts if kind == "commonName"] or [v for _, v in parts]
    return shorten(found[-1], LONGEST_NAME) if found else None


def _parts(name: Any) -> Iterator[tuple[str, str]]:
    for relative in name:
        yield from relative
