"""How TLS is spoken: what is trusted, who we are, which versions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.properties import Property

TLS_VERSIONS: Final = ("TLSv1.2", "TLSv1.3")
"""Ascending; older ones are broken."""

STORE_PROPERTIES: Final = frozenset(
    f"ssl.{name}"
    for name in (
        *("ca.location", "ca.pem", "certificate.location", "certificate.pem"),
        *("key.location", "key.pem", "key.password"),
        *("keystore.location", "keystore.password", "keystore.type"),
        *("keystore.certificate.chain", "keystore.key"),
        *("truststore.location", "truststore.password", "truststore.type"),
        "truststore.certificates",
    )
)
"""Properties of certificates and keys, of Java and librdkafka: `TlsSettings` has them all."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Trust and identity for TLS; a store is PEM, PKCS#12 or JKS, as its content says.

    Args:
        ca_file: store with the certificates to trust, or a folder with them; without it and
            `ca_pem` those of the system.
        ca_pem: certificates to trust, as text.
        ca_password: of `ca_file`, where it is PKCS#12 or JKS.
        certificate_file, key_file: our own certificate and key in PEM, for brokers that ask.
        key_password: of the key, if it has another one than its store.
        keystore_file: store with our own certificate and key, instead.
        verify: check the broker's certificate at all.
        verify_host: check that it is for the host that we connect to.
        versions: of TLS, as Java spells them; empty for all that are safe.
    """

    ca_file: str | None = None
    ca_pem: str | None = field(default=None, repr=False)
    ca_password: str | None = field(default=None, repr=False)
    certificate_file: str | None = None
    certificate_pem: str | None = field(default=None, repr=False)
    key_file: str | None = None
    key_pem: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)
    keystore_file: str | None = None
    keystore_password: str | None = field(default=None, repr=False)
    verify: bool = True
    verify_host: bool = True
    versions: tuple[str, ...] = ()

    @property
    def has_identity(self) -> bool:
        """Whether there is a certificate to show to brokers that ask for one."""
        return bool(self.certificate_file or self.certificate_pem or self.keystore_file)


def tls_of(given: Mapping[str, Property]) -> TlsSettings:
    """The part of the properties about TLS, in either spelling.

    Raises:
        UsageError: no version of TLS is named that is safe to use.
    """

    def first(*names: str) -> str | None:
        return next((given[name].value for name in names if name in given), None)

    verify = first("enable.ssl.certificate.verification") or "true"
    algorithm = first("ssl.endpoint.identification.algorithm")
    return TlsSettings(
        ca_file=first("ssl.ca.location", "ssl.truststore.location"),
        ca_pem=first("ssl.ca.pem", "ssl.truststore.certificates"),
        ca_password=first("ssl.truststore.password"),
        certificate_file=first("ssl.certificate.location"),
        certificate_pem=first("ssl.certificate.pem", "ssl.keystore.certificate.chain"),
        key_file=first("ssl.key.location"),
        key_pem=first("ssl.key.pem", "ssl.keystore.key"),
        key_password=first("ssl.key.password"),
        keystore_file=first("ssl.keystore.location"),
        keystore_password=first("ssl.keystore.password"),
        verify=verify.lower() != "false",
        verify_host=algorithm is None or algorithm.lower() == "https",
        versions=_versions_of(given),
    )


def _versions_of(given: Mapping[str, Property]) -> tuple[str, ...]:
    """Java's `ssl.enabled.protocols`; librdkafka has no such property."""
    named = given.get("ssl.enabled.protocols")
    if named is None:
        return ()
    versions = {version.strip() for version in named.value.split(",")}
    chosen = tuple(version for version in TLS_VERSIONS if version in versions)
    if not chosen:
        raise UsageError(
            f"{named.place}: `ssl.enabled.protocols` names no version of TLS that is supported",
            hint=f"expected {' or '.join(TLS_VERSIONS)}, or both",
        )
    return chosen
