"""The way to an address, or why there is none: nobody there, or no TLS with whoever is.

Why TLS failed is told from the alert of the other side, or by a second look at its certificate.
Python does not show a certificate that it refused, so the broker is asked for it once more. Nothing
is sent over that connection.
"""

import datetime
import socket
import ssl
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.stores import expiry_of
from kgroups.core.kafka.config.tls import TlsSettings
from kgroups.core.kafka.failures import BrokerFailure, UnknownHost
from kgroups.core.kafka.transport.addresses import Address
from kgroups.core.kafka.transport.inbox import address_text, timed_out
from kgroups.core.kafka.transport.tcp import Stream, close, connect

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, Name

CODE: Final = "SSL_HANDSHAKE_FAILED"
LOOK_S: Final = 2.0
NAMED: Final = 5
LONGEST_NAME: Final = 100

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


async def why_no_tls(
    address: tuple[str, int], error: Exception, tls: TlsSettings, deadline: float
) -> BrokerFailure | None:
    """Why there is no TLS; None where there is not even a connection.

    Args:
        address: host and port that were connected to.
        tls: what was offered.
        deadline: seconds of `time.monotonic`.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return await bad_certificate(address, error, deadline)
    if isinstance(error, ssl.SSLError | ConnectionResetError | BrokenPipeError | EOFError):
        return no_handshake(address_text(address), error, tls)
    return None


async def speaks_tls(address: tuple[str, int], deadline: float) -> bool:
    """Whether a port that hung up on plain words goes on with a handshake, or refuses it as TLS."""
    try:
        _, writer = await connect(address, _blind(), deadline)
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except (OSError, EOFError, UnicodeError):
        return False
    await close(writer)
    return True


def _blind() -> ssl.SSLContext:
    """The context of a connection over which nothing is sent: only the answer matters."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def bad_certificate(
    address: tuple[str, int], error: ssl.SSLCertVerificationError, deadline: float
) -> BrokerFailure:
    """Why the broker's certificate is not accepted.

    Args:
        address: host and port that were connected to.
        deadline: seconds of `time.monotonic`; the second look takes `LOOK_S` at most.
    """
    certificate = await _read_certificate(address, deadline)
    message, hint = _words(address, error, certificate)
    # Another broker may well have a certificate that is for it, or still valid.
    is_fatal = error.verify_code in UNTRUSTED
    name = address_text(address)
    return BrokerFailure(CODE, message, hint=hint, address=name, fatal=is_fatal)


def _words(
    address: tuple[str, int], error: ssl.SSLCertVerificationError, certificate: "Certificate | None"
) -> tuple[str, str]:
    """Sentence and hint."""
    host, name = shorten(address[0], LONGEST_NAME), address_text(address)
    ends = None if certificate is None else certificate.not_valid_after_utc
    if error.verify_code == EXPIRED:
        if ends is not None and ends > datetime.datetime.now(datetime.UTC):
            return (
                f"a CA certificate in the chain of {name} has expired",
                "renew the CA certificate on the broker and in your trust store",
            )
        when = "has expired" if ends is None else f"expired on {_text_of(ends)}"
        return f"the certificate of {name} {when}", "renew the broker's certificate"
    if error.verify_code == NOT_YET_VALID:
        begins = None if certificate is None else _text_of(certificate.not_valid_before_utc)
        when = "yet" if begins is None else f"before {begins}"
        return f"the certificate of {name} is not valid {when}", "check this machine's clock"
    if error.verify_code in OTHER_HOST:
        names = [] if certificate is None else _names_of(certificate)
        said = f", only for {_listed(names)}" if names else ""
        return (
            f"the certificate of {name} is not for `{host}`{said}",
            (
                "use a name from the certificate, in `--bootstrap-server` and in the broker's "
                "`advertised.listeners`"
            ),
        )
    if error.verify_code in UNTRUSTED:
        issuer = None if certificate is None else _common_name(certificate.issuer)
        if certificate is None or issuer is None:
            said, whom = "", "the CA that issued it"
        elif certificate.issuer == certificate.subject:
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


async def _read_certificate(address: tuple[str, int], deadline: float) -> "Certificate | None":
    """The certificate that the broker shows; None if it cannot be had or understood."""
    from cryptography.x509 import (  # 0.1 s
        DuplicateExtension,
        UnsupportedGeneralNameType,
        load_der_x509_certificate,
    )

    try:
        _, writer = await connect(address, _blind(), min(deadline, time.monotonic() + LOOK_S))
    except (OSError, EOFError, UnicodeError):
        return None
    connection: ssl.SSLObject = writer.get_extra_info("ssl_object")
    shown = connection.getpeercert(binary_form=True)
    await close(writer)
    try:
        certificate = load_der_x509_certificate(shown or b"")
        _names_of(certificate)  # its parts are read only when they are asked for
        _common_name(certificate.issuer)
    except (ValueError, DuplicateExtension, UnsupportedGeneralNameType):
        return None
    return certificate


def _text_of(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def _names_of(certificate: "Certificate") -> list[str]:
    """Hosts and addresses that the certificate is for."""
    from cryptography.x509 import DNSName, ExtensionNotFound, IPAddress, SubjectAlternativeName

    names: list[str] = []
    with suppress(ExtensionNotFound):
        alternatives = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
        names = [str(name.value) for name in alternatives if isinstance(name, DNSName | IPAddress)]
    common = _common_name(certificate.subject)
    return names or ([common] if common else [])


def _listed(names: list[str]) -> str:
    """The first few names; a certificate may have hundreds."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(f"`{shorten(name, LONGEST_NAME)}`" for name in names[:NAMED]) + more


def _common_name(name: "Name") -> str | None:
    """The common name in a distinguished one, else its last part; None if it is empty."""
    from cryptography.x509.oid import NameOID

    parts = name.get_attributes_for_oid(NameOID.COMMON_NAME) or list(name)
    return shorten(str(parts[-1].value), LONGEST_NAME) if parts else None


async def open_stream(
    address: Address, settings: TlsSettings, tls: ssl.SSLContext | None, deadline: float
) -> Stream:
    """A TCP connection, with TLS if there is a context; nothing has been asked over it.

    Args:
        address: host and port.
        deadline: seconds of `time.monotonic`.
    Raises:
        BrokerFailure: nobody there, or no TLS with whoever is.
    """
    name = address_text(address)
    if not address[0] or "\0" in address[0] or not 0 < address[1] < 1 << 16:
        raise BrokerFailure(
            "BROKER_NOT_AVAILABLE",
            f"`{name}` is not an address",
            hint="check the broker's `advertised.listeners`",
            address=name,
        )
    try:
        return await connect(address, tls, deadline)
    except TimeoutError as error:
        raise timed_out(name, "connect" if tls is None else "connect with TLS") from error
    except (OSError, EOFError, UnicodeError) as error:
        failure = None
        if tls is not None:
            failure = await why_no_tls(address, error, settings, deadline)
        raise failure or _unreachable(address[0], name, error) from error


def _unreachable(host: str, address: str, error: Exception) -> BrokerFailure:
    """Nobody there: the name is unknown or the port is closed."""
    if isinstance(error, UnicodeError | socket.gaierror):
        return UnknownHost(host, address)
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        reason, hint = "connection refused", "check the port, and that the broker is running"
    else:
        reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
        hint = "check the address, and that the broker is running"
    return BrokerFailure(
        "BROKER_NOT_AVAILABLE", f"{address} cannot be reached: {reason}", hint=hint, address=address
    )
