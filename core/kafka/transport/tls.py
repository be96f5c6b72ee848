"""The TLS context that the settings describe."""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.stores import Identity, Pem, identity_of, trust_of
from kgroups.core.kafka.config.tls import TlsSettings

_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def make_context(tls: TlsSettings) -> ssl.SSLContext:
    """Context for client connections.

    Raises:
        UsageError: a store is missing, none, or its password is wrong.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = tls.verify and tls.verify_host
    context.verify_mode = ssl.CERT_REQUIRED if tls.verify else ssl.CERT_NONE
    if tls.versions:
        context.minimum_version = _VERSIONS[tls.versions[0]]
        context.maximum_version = _VERSIONS[tls.versions[-1]]
    trust, identity = trust_of(tls), identity_of(tls)
    if trust is None:
        context.load_default_certs()
    else:
        _load_trust(context, trust)
    if identity is not None:
        _load_identity(context, identity)
    return context


def _load_trust(context: ssl.SSLContext, trust: Pem) -> None:
    """Trusts what is in the store, be it an intermediate authority or a broker's own: as Java."""
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        if trust.path is not None and os.path.isdir(trust.path):  # noqa: PTH112
            context.load_verify_locations(capath=trust.path)
        else:
            context.load_verify_locations(cafile=trust.path, cadata=trust.text)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise UsageError(
            f"trust store `{trust.path or 'ssl.ca.pem'}` cannot be read",
            hint="expected certificates in PEM, PKCS#12 or JKS",
        ) from error


def _load_identity(context: ssl.SSLContext, identity: Identity) -> None:
    password = identity.password or ""  # an empty one keeps OpenSSL from asking on the terminal
    try:
        with _as_file(identity.certificate) as certificate, _as_file(identity.key) as key:
            context.load_cert_chain(certificate, key, password=password)
    except (ssl.SSLError, OSError, ValueError) as error:
        name = identity.certificate.path or "ssl.certificate.pem"
        raise UsageError(
            f"certificate and key of `{name}` cannot be read",
            hint="expected PEM, a key that belongs to the certificate, and `ssl.key.password` if "
            "the key is encrypted",
        ) from error


@contextmanager
def _as_file(pem: Pem) -> Iterator[str]:
    """Path of a file with the PEM: Python's ssl reads keys from files only."""
    if pem.text is None:
        assert pem.path is not None
        yield pem.path
        return
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:  # readable by us alone
        file.write(pem.text)
        file.flush()
        yield file.name
