"""The client's half of SCRAM (RFC 5802), as a value that turns challenges into responses."""

import base64
import binascii
import hashlib
import hmac
import unicodedata

from kgroups.core.kafka.transport.logins.mechanism import LoginError, Messages

_DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_MAX_ITERATIONS = 10_000_000
"""More would keep the client busy for minutes: no honest server asks for it."""


def scram(mechanism: str, username: str, password: str, nonce: str) -> Messages:
    """The messages of one login.

    Args:
        mechanism, username, password, nonce: as `ScramClient` takes them.
    Raises:
        LoginError: the broker does not know the password itself.
    """
    client = ScramClient(mechanism, username, password, nonce)
    challenge = yield client.first()
    final = yield client.final(challenge)
    client.verify(final)


class ScramClient:
    """One login: `first()`, `final(server_first)`, then `verify(server_final)`.

    Args:
        mechanism: SCRAM-SHA-256 or SCRAM-SHA-512.
        username, password: as the user gave them.
        nonce: fresh printable characters without a comma.
    Source: RFC 5802, RFC 7677; no channel binding, because Kafka offers none.
    """

    def __init__(self, mechanism: str, username: str, password: str, nonce: str) -> None:
        self._digest = _DIGESTS[mechanism]
        name = _prepare(username).replace("=", "=3D").replace(",", "=2C")
        self._password = _prepare(password).encode()
        self._nonce = nonce
        self._first_bare = f"n={name},r={nonce}"
        self._server_signature = b""

    def first(self) -> bytes:
        """The client's first message."""
        return f"n,,{self._first_bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        """The client's last message, with the proof that it knows the password.

        Raises:
            LoginError: the server's message is not an answer to ours.
        """
        fields = _fields(server_first)
        nonce, salt, iterations = fields.get("r", ""), fields.get("s"), fields.get("i", "")
        if not nonce.startswith(self._nonce) or len(nonce) <= len(self._nonce):
            raise LoginError("the server's nonce does not continue ours")
        if salt is None or not iterations.isdigit() or not 0 < int(iterations) < _MAX_ITERATIONS:
            raise LoginError("the server's challenge is incomplete")
        salted = hashlib.pbkdf2_hmac(self._digest, self._password, _decode(salt), int(iterations))
        client_key = self._hmac(salted, b"Client Key")
        stored_key = hashlib.new(self._digest, client_key).digest()
        without_proof = f"c=biws,r={nonce}"
        message = f"{self._first_bare},{server_first.decode()},{without_proof}".encode()
        signature = self._hmac(stored_key, message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        self._server_signature = self._hmac(self._hmac(salted, b"Server Key"), message)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def verify(self, server_final: bytes) -> None:
        """Checks that the server knows the password too.

        Raises:
            LoginError: it does not, or it refused ours.
        """
        fields = _fields(server_final)
        if "e" in fields:
            raise LoginError(f"the server refused the proof: {fields['e']}")
        signature = _decode(fields.get("v", ""))
        if not self._server_signature or not hmac.compare_digest(signature, self._server_signature):
            raise LoginError("the server could not prove that it knows the password")

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._digest).digest()


def _prepare(text: str) -> str:
    """The text as SASLprep makes it where that matters to Kafka: NFKC, odd spaces plain."""
    return unicodedata.normalize("NFKC", text)


def _fields(message: bytes) -> dict[str, str]:
    """The `k=value` fields of a message.

    Raises:
        LoginError: the message is not made of such fields.
    """
    fields: dict[str, str] = {}
    try:
        for part in message.decode().split(","):
            name, value = part.split("=", 1)
            fields[name] = value
    except ValueError as error:
        raise LoginError("the server's message cannot be read") from error
    return fields


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise LoginError("the server's message cannot be read") from error
