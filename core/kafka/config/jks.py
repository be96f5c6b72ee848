"""Java's own key stores (JKS): certificates, and keys under a password each.

The format has no specification: `sun.security.provider.JavaKeyStore` and `KeyProtector` of OpenJDK
define it. Its keys are hidden by a stream of SHA-1, which nobody should rely on, and many do.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

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
    """What a store holds, in its order; certificates and keys in DER.

    Args:
        trusted: certificates of others.
        keys: our own: the protected key, and its certificate with those of its issuers.
    """

    trusted: tuple[bytes, ...]
    keys: tuple[tuple[bytes, tuple[bytes, ...]], ...]


def read_jks(data: bytes, password: str | None) -> Jks:
    """The content of a store.

    Args:
        data: the whole file.
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
        password: of the key.
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
