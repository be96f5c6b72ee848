"""SCRAM: the vectors of the RFCs, and servers that lie."""

import pytest

from kgroups.core.kafka.transport.logins.mechanism import LoginError
from kgroups.core.kafka.transport.logins.scram import ScramClient

NONCE = "rOprNGfwEbeRWgbNEkqO"
CHALLENGE = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
PROOF = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SIGNATURE = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def _client() -> ScramClient:
    return ScramClient("SCRAM-SHA-256", "user", "pencil", NONCE)


def test_exchange_of_rfc_7677() -> None:
    """Every message of the RFC's example, ours and theirs."""
    client = _client()
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert client.final(CHALLENGE) == PROOF
    client.verify(SIGNATURE)


def test_names_are_escaped() -> None:
    """Comma and equals sign would end the field."""
    client = ScramClient("SCRAM-SHA-512", "a,b=c", "x", NONCE)
    assert client.first() == b"n,,n=a=2Cb=3Dc,r=rOprNGfwEbeRWgbNEkqO"


CHALLENGES = [
    ("foreign nonce", b"r=xyz,s=W22Z,i=4096"),
    ("nonce not continued", b"r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096"),
    ("no salt", CHALLENGE.replace(b"s=", b"t=")),
    ("no iterations", CHALLENGE.replace(b",i=4096", b"")),
    ("endless iterations", CHALLENGE.replace(b"4096", b"99999999999")),
    ("salt not base64", CHALLENGE.replace(b"W22Z", b"W2*Z")),
    ("not text", b"\xff\xff"),
    ("no fields", b"hello"),
]


@pytest.mark.parametrize("challenge", [c[1] for c in CHALLENGES], ids=[c[0] for c in CHALLENGES])
def test_wrong_challenge_is_refused(challenge: bytes) -> None:
    """Nothing that depends on the password leaves for a server that does not follow."""
    with pytest.raises(LoginError):
        _client().final(challenge)


FINALS = [
    ("wrong signature", b"v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", "could not prove"),
    ("no signature", b"x=y", "could not prove"),
    ("refusal", b"e=invalid-proof", "invalid-proof"),
]


@pytest.mark.parametrize(("final", "reason"), [c[1:] for c in FINALS], ids=[c[0] for c in FINALS])
def test_server_must_prove_itself(final: bytes, reason: str) -> None:
    """A server that does not know the password is not believed."""
    client = _client()
    client.final(CHALLENGE)
    with pytest.raises(LoginError, match=reason):
        client.verify(final)


def test_signature_before_the_challenge_is_refused() -> None:
    """An empty signature must not equal the one that was never computed."""
    with pytest.raises(LoginError):
        _client().verify(b"v=")
