"""Trust stores and key stores, read: PEM, PKCS#12 and JKS.

A store is what its content says, whatever its name and its declared type: Java too reads PKCS#12
where it is told JKS, and the other way round. JKS has no specification:
`sun.security.provider.JavaKeyStore` and `KeyProtector` of OpenJDK define it. Its keys are hidden by
a stream of SHA-1, which nobody should rely on, and many do.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from kgroups.core.errors import UsageError
from kgroups.core.input_files.files import MIB, lies_at, read_file
from kgroups.core.kafka.config.tls import TlsSettings

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

MAGIC: Final = b"\xfe\xed\xfe\xed"
_KEY, _CERTIFICATE = 1, 2
_VERSIONS: Final = (1, 2)
_WHITENER: Final = b"Mighty Aphrodite"
_DIGEST: Final = 20  # bytes of SHA-1
_PROTECTOR: Final = bytes.fromhex("060a2b060104012a02110101")  # 1.3.6.1.4.1.42.2.17.1.1


class DamagedStore(Exception):
    """The bytes are no store."""


class WrongPassword(Exception):
    """The password does not fit, or the store was changed since it was made with it."""


@dataclass(frozen=True, slots=True)
class Jks:
    """Contents of a store, in its order; certificates and keys in DER.

    Args:
        trusted: certificates of others.
        keys: our own: the protected key, and its certificate with those of its issuers.
    """

    trusted: tuple[bytes, ...]
    keys: tuple[tuple[bytes, tuple[bytes, ...]], ...]


def read_jks(data: bytes, password: str | None) -> Jks:
    """The content of a store.

    Args:
        password: of the store; None does without the check that nobody changed it, as Java does.
    Raises:
        DamagedStore: the bytes are no store.
        WrongPassword: the check fails.
    """
    reader = _Reader(data)
    if reader.take(4) != MAGIC or (version := reader.number(4)) not in _VERSIONS:
        raise DamagedStore
    trusted: list[bytes] = []
    keys: list[tuple[bytes, tuple[bytes, ...]]] = []
    for _ in range(reader.number(4)):
        kind = reader.number(4)
        reader.take(reader.number(2))  # its alias
        reader.take(8)  # when it was made
        if kind == _CERTIFICATE:
            trusted.append(reader.certificate(version))
        elif kind == _KEY:
            key = reader.take(reader.number(4))
            chain = tuple(reader.certificate(version) for _ in range(reader.number(4)))
            keys.append((key, chain))
        else:
            raise DamagedStore
    content = data[: reader.position]
    digest = reader.take(_DIGEST)
    if password is not None and digest != _sha1(_bytes_of(password), _WHITENER, content):
        raise WrongPassword
    return Jks(tuple(trusted), tuple(keys))


def open_key(protected: bytes, password: str) -> bytes:
    """A private key as PKCS#8 in DER.

    Args:
        protected: the key as the store has it: `EncryptedPrivateKeyInfo` in DER.
    Raises:
        DamagedStore: the bytes are no key, or are hidden in another way.
        WrongPassword: the password does not fit.
    """
    algorithm, rest = _der(_der(protected)[0])
    if not algorithm.startswith(_PROTECTOR):
        raise DamagedStore
    hidden, _ = _der(rest)
    if len(hidden) < 2 * _DIGEST:
        raise DamagedStore
    word, stream = _bytes_of(password), hidden[:_DIGEST]
    key = bytearray()
    for start in range(_DIGEST, len(hidden) - _DIGEST, _DIGEST):
        stream = _sha1(word, stream)
        part = hidden[start : min(start + _DIGEST, len(hidden) - _DIGEST)]
        key += bytes(a ^ b for a, b in zip(part, stream, strict=False))
    if hidden[-_DIGEST:] != _sha1(word, key):
        raise WrongPassword
    return bytes(key)


class _Reader:
    """Big-endian fields, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self.position = data, 0

    def take(self, count: int) -> bytes:
        part = self._data[self.position : self.position + count]
        if len(part) < count:
            raise DamagedStore
        self.position += count
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))

    def certificate(self, version: int) -> bytes:
        if version > 1:
            self.take(self.number(2))  # its type: X.509
        return self.take(self.number(4))


def _der(data: bytes) -> tuple[bytes, bytes]:
    """The content of the first DER value, and what follows it."""
    reader = _Reader(data)
    reader.take(1)  # its tag
    length = reader.number(1)
    if length & 0x80:
        length = reader.number(length & 0x7F)
    return reader.take(length), data[reader.position :]


def _bytes_of(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")


def _sha1(*parts: bytes | bytearray) -> bytes:
    return hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()


MAX_BYTES: Final = 16 * MIB
"""The certificates of every authority that a system trusts take a quarter of a megabyte."""

_EXPECTED: Final = "certificates or a key in PEM, PKCS#12 or JKS"


@dataclass(frozen=True, slots=True)
class Pem:
    """PEM in a file, or as text.

    Args:
        path: of the file; for certificates to trust it may be a folder. None for text.
        text: None for a file.
    """

    path: str | None = None
    text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are.

    Args:
        certificate: our own, and those of its issuers.
        password: of the key; None if it is not encrypted.
    """

    certificate: Pem
    key: Pem
    password: str | None = field(default=None, repr=False)


def trust_of(tls: TlsSettings) -> Pem | None:
    """The certificates to trust; None for those of the system.

    Raises:
        UsageError: the store is missing, no store, or its password is wrong.
    """
    if tls.ca_file is None:
        return None if tls.ca_pem is None else Pem(text=tls.ca_pem)
    store = _Store("trust store", "ssl.truststore.password", tls.ca_file, tls.ca_password)
    if lies_at(Path(tls.ca_file)) == "folder" or store.is_pem:
        return Pem(tls.ca_file)
    certificates = store.trusted()
    if not certificates:
        raise UsageError(f"{store} holds no certificate")
    return Pem(text=certificates)


def identity_of(tls: TlsSettings) -> Identity | None:
    """Our own certificate and key; None if there are none.

    Raises:
        UsageError: a store or a file is missing, is none, or its password is wrong.
    """
    if tls.certificate_file or tls.certificate_pem:
        certificate = Pem(tls.certificate_file, tls.certificate_pem)
        key = Pem(tls.key_file, tls.key_pem) if tls.key_file or tls.key_pem else certificate
        for path in {pem.path for pem in (certificate, key) if pem.path is not None}:
            _read(path, "key store")
        return Identity(certificate, key, tls.key_password)
    if tls.keystore_file is None:
        return None
    password = tls.keystore_password
    store = _Store("key store", "ssl.keystore.password", tls.keystore_file, password)
    if store.is_pem:
        pem = Pem(tls.keystore_file)
        return Identity(pem, pem, tls.key_password)
    certificates, private = store.own(tls.key_password)
    return Identity(Pem(text=certificates), Pem(text=private))


def expiry_of(tls: TlsSettings) -> str | None:
    """Since when our own certificate is not valid any more; None if it is, or we cannot tell."""
    import datetime

    from cryptography.x509 import load_pem_x509_certificate

    identity = identity_of(tls)
    if identity is None:
        return None
    text = identity.certificate.text
    data = _read(identity.certificate.path or "", "key store") if text is None else text.encode()
    try:
        end = load_pem_x509_certificate(data).not_valid_after_utc
    except ValueError:
        return None
    is_over = end < datetime.datetime.now(datetime.UTC)
    return end.strftime("%Y-%m-%d %H:%M UTC") if is_over else None


class _Store:
    """A file with certificates and keys.

    Args:
        setting: which property has its password.
    """

    def __init__(self, kind: str, setting: str, path: str, password: str | None) -> None:
        self._name, self._setting, self._password = f"{kind} `{path}`", setting, password
        is_folder = lies_at(Path(path)) == "folder"
        self._data = b"" if is_folder else _read(path, kind)

    def __str__(self) -> str:
        return self._name

    @property
    def is_pem(self) -> bool:
        """Whether it is text, and not one of Java's stores."""
        return b"-----BEGIN " in self._data and not self._data.startswith((b"\x30", MAGIC))

    def trusted(self) -> str:
        """Every certificate in it as PEM; of a key the first, as Java trusts it."""
        if self._is_jks:
            content = self._jks()
            own = (chain[0] for _, chain in content.keys if chain)
            return "".join(_pem("CERTIFICATE", der) for der in (*content.trusted, *own))
        _, own_certificate, others = self._pkcs12()
        return _pem_of([*others, *([own_certificate] if own_certificate else [])])

    def own(self, key_password: str | None) -> tuple[str, str]:
        """The first certificate that has a key, with its issuers, and the key, as PEM."""
        if self._is_jks:
            entries = self._jks().keys
            if not entries or not entries[0][1]:
                self._has_no_key()
            protected, chain = entries[0]
            word = key_password if key_password is not None else self._password
            if word is None:
                self._needs_password()
            try:
                key = open_key(protected, word)
            except WrongPassword as error:
                raise UsageError(
                    f"the password of the key in {self} is wrong",
                    hint="check `ssl.key.password`, or `ssl.keystore.password` without it",
                ) from error
            except DamagedStore as error:
                self._is_no_store(error)
            certificates = "".join(_pem("CERTIFICATE", der) for der in chain)
            return certificates, _pem("PRIVATE KEY", key)
        private, certificate, others = self._pkcs12()
        if private is None or certificate is None:
            self._has_no_key()
        return _pem_of(_chain(certificate, others)), private

    @property
    def _is_jks(self) -> bool:
        return self._data.startswith(MAGIC)

    def _jks(self) -> Jks:
        try:
            return read_jks(self._data, self._password)
        except WrongPassword as error:
            self._password_is_wrong(error)
        except DamagedStore as error:
            self._is_no_store(error)

    def _pkcs12(self) -> "tuple[str | None, Certificate | None, list[Certificate]]":
        """Key as PEM, its certificate, and the other certificates."""
        from cryptography.exceptions import UnsupportedAlgorithm  # 0.1 s, for PKCS#12 alone
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.serialization import pkcs12

        if not self._data.startswith(b"\x30"):
            self._is_no_store(None)
        word = None if self._password is None else self._password.encode()
        try:
            store = pkcs12.load_pkcs12(self._data, word)
        except UnsupportedAlgorithm as error:
            raise UsageError(f"{self} is encrypted in a way that is not supported") from error
        except (ValueError, TypeError) as error:
            if "password" not in str(error):
                self._is_no_store(error)
            if word is None:
                self._needs_password()
            self._password_is_wrong(error)
        key = None
        if store.key is not None:
            key = store.key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ).decode()
        own = None if store.cert is None else store.cert.certificate
        return key, own, [entry.certificate for entry in store.additional_certs]

    def _needs_password(self) -> NoReturn:
        raise UsageError(f"{self} needs a password", hint=f"set `{self._setting}`")

    def _password_is_wrong(self, error: Exception) -> NoReturn:
        raise UsageError(
            f"the password of {self} is wrong, or the file is damaged",
            hint=f"check `{self._setting}`",
        ) from error

    def _has_no_key(self) -> NoReturn:
        raise UsageError(
            f"{self} holds no private key",
            hint="`keytool -list` must show a `PrivateKeyEntry`",
        )

    def _is_no_store(self, error: Exception | None) -> NoReturn:
        raise UsageError(f"{self} cannot be read", hint=f"expected {_EXPECTED}") from error


def _read(path: str, kind: str) -> bytes:
    if lies_at(Path(path)) is None:
        raise UsageError(f"{kind} `{path}` does not exist")
    return read_file(Path(path), MAX_BYTES, _EXPECTED)


def _pem(label: str, der: bytes) -> str:
    lines = re.findall(".{1,64}", base64.b64encode(der).decode())
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""))


def _pem_of(certificates: "Sequence[Certificate]") -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return "".join(entry.public_bytes(Encoding.PEM).decode() for entry in certificates)


def _chain(own: "Certificate", others: "Sequence[Certificate]") -> "list[Certificate]":
    """A certificate and those of its issuers, each after what it issued, as TLS sends them."""
    chain, left = [own], list(others)
    while issuers := [entry for entry in left if entry.subject == chain[-1].issuer]:
        left.remove(issuers[0])
        chain.append(issuers[0])
    return chain
