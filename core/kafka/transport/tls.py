"""The TLS context that the settings describe."""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.settings import TlsSettings
from kgroups.core.kafka.config.stores import check_stores

_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


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
    if tls.versions:
        context.minimum_version = _VERSIONS[tls.versions[0]]
        context.maximum_version = _VERSIONS[tls.versions[-1]]
    if tls.ca_file is None and tls.ca_pem is None:
        context.load_default_certs()
    else:
        _load_trust(context, tls)
    if tls.certificate_file or tls.certificate_pem:
        _load_identity(context, tls)
    return context


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
