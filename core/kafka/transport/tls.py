"""The TLS context that the settings describe, and whether a broker is content with it."""

import asyncio
import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.settings import ClientSettings, SecurityProtocol, TlsSettings
from kgroups.core.kafka.config.stores import check_stores
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.connection import Connection


def make_context(tls: TlsSettings) -> ssl.SSLContext:
    """Context for client connections.

    Raises:
        UsageError: a certificate or key file is missing, no file, not PEM, or its password is
            wrong.
    """
    check_stores(tls)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = tls.verify and tls.verify_host
    context.verify_mode = ssl.CERT_REQUIRED if tls.verify else ssl.CERT_NONE
    if tls.ca_file is None and tls.ca_pem is None:
        context.load_default_certs()
    else:
        _load_trust(context, tls)
    if tls.certificate_file or tls.certificate_pem:
        _load_identity(context, tls)
    return context


def protocol_failure(settings: ClientSettings, timeout_s: float) -> BrokerFailure | None:
    """Why TLS, or doing without it, fails at the first bootstrap server.

    For librdkafka, which says little about it. No login is tried.

    Returns:
        None if it does not fail, or we cannot tell.
    """
    protocol: SecurityProtocol = "SSL" if settings.uses_tls else "PLAINTEXT"
    simple = ClientSettings(
        settings.bootstrap_servers, security_protocol=protocol, tls=settings.tls
    )

    async def knock() -> None:
        deadline = asyncio.get_running_loop().time() + timeout_s
        connection = await Connection.open(simple.addresses[0], simple, context, deadline)
        await connection.close()

    try:
        context = make_context(settings.tls) if settings.uses_tls else None
        asyncio.run(knock())
    except BrokerFailure as failure:
        return failure if failure.fatal or failure.code == "SSL_HANDSHAKE_FAILED" else None
    except UsageError:  # a store that only librdkafka can read
        return None
    return None


def _load_trust(context: ssl.SSLContext, tls: TlsSettings) -> None:
    name = tls.ca_file or "ssl.ca.pem"
    try:
        if tls.ca_file is not None and os.path.isdir(tls.ca_file):  # noqa: PTH112
            context.load_verify_locations(capath=tls.ca_file)
        else:
            context.load_verify_locations(cafile=tls.ca_file, cadata=tls.ca_pem)
    except FileNotFoundError as error:
        raise UsageError(f"trust store `{name}` does not exist") from error
    except (ssl.SSLError, OSError, ValueError) as error:
        raise UsageError(
            f"trust store `{name}` cannot be read", hint="expected certificates in PEM"
        ) from error


def _load_identity(context: ssl.SSLContext, tls: TlsSettings) -> None:
    name = tls.certificate_file or "ssl.certificate.pem"
    password = tls.key_password or ""  # an empty one keeps OpenSSL from asking on the terminal
    try:
        with _as_file(tls.certificate_file, tls.certificate_pem) as certificate:
            if tls.key_file is None and tls.key_pem is None:
                context.load_cert_chain(certificate, password=password)
                return
            with _as_file(tls.key_file, tls.key_pem) as key:
                context.load_cert_chain(certificate, key, password=password)
    except FileNotFoundError as error:
        raise UsageError(f"key store `{error.filename or name}` does not exist") from error
    except (ssl.SSLError, OSError, ValueError) as error:
        raise UsageError(
            f"certificate and key of `{name}` cannot be read",
            hint="expected PEM, a key that belongs to the certificate, and `ssl.key.password` if "
            "the key is encrypted",
        ) from error


@contextmanager
def _as_file(path: str | None, pem: str | None) -> Iterator[str]:
    """Path of a file with the PEM text: Python's ssl reads keys from files only."""
    if pem is None:
        assert path is not None
        yield path
        return
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:  # readable by us alone
        file.write(pem)
        file.flush()
        yield file.name
