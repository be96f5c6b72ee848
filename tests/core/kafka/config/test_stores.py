"""Java's stores: what `keytool` makes is read; what is wrong with one is said in a sentence."""

import hashlib
import random
import ssl
import stat
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.stores import Pem, expiry_of, identity_of, trust_of
from kgroups.core.kafka.config.tls import TlsSettings
from kgroups.core.kafka.transport.tls import make_context
from tests.support.kafka.broker_config import STORE_PASSWORD
from tests.support.kafka.certificates import ODD, make_certificates
from tests.support.kafka.java_stores import KINDS, make_key_store, make_trust_store

PRIVATE = ("JKS", "PKCS12", "PKCS12 with RC2 and 3DES")
KEY_PASSWORD = "another-one"
OTHERS = "pässwörd ☃"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores of every kind: `KIND.trust` with two authorities, `KIND.own` with a client's key."""
    folder = tmp_path_factory.mktemp("stores")
    make_certificates(folder, ODD)
    for kind in KINDS:
        authorities = (folder / "ca.pem", folder / "stranger.pem")
        make_trust_store(folder / f"{kind}.trust", kind, *authorities)
    for kind in PRIVATE:
        make_key_store(folder / f"{kind}.own", kind, folder / "client.p12")
    return folder


def text_of(pem: Pem | None) -> str:
    """The PEM, which is none of a file."""
    assert pem is not None
    assert pem.text is not None
    return pem.text


def body_of(pem: str) -> list[str]:
    """The certificates or keys in a text, without what stands around them."""
    return ["".join(part.partition("-----END")[0].split()) for part in pem.split("-----\n")[1::2]]


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", KINDS)
def test_trust_stores(folder: Path, kind: str) -> None:
    """Every certificate is trusted, whatever the name of the file."""
    password = None if "without" in kind else STORE_PASSWORD
    settings = TlsSettings(ca_file=str(folder / f"{kind}.trust"), ca_password=password)
    wanted = {
        body
        for name in ("ca", "stranger")
        for body in body_of((folder / f"{name}.pem").read_text())
    }
    assert set(body_of(text_of(trust_of(settings)))) == wanted
    assert make_context(settings).cert_store_stats()["x509_ca"] == 2
    assert STORE_PASSWORD not in repr(settings)


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", PRIVATE)
def test_key_stores(folder: Path, kind: str) -> None:
    """Our own certificate comes first, then its issuer's; the key is the one that went in."""
    settings = TlsSettings(
        keystore_file=str(folder / f"{kind}.own"), keystore_password=STORE_PASSWORD
    )
    identity = identity_of(settings)
    assert identity is not None
    assert body_of(text_of(identity.certificate)) == [
        body for name in ("client", "ca") for body in body_of((folder / f"{name}.pem").read_text())
    ]
    assert body_of(text_of(identity.key)) == body_of((folder / "client.key").read_text())
    assert "PRIVATE" not in repr(identity) + repr(settings)
    make_context(settings)


def test_key_of_another_password(folder: Path, tmp_path: Path) -> None:
    """`ssl.key.password` opens the key, and the store's does not."""
    source = folder / "client.p12"
    store = make_key_store(tmp_path / "s", "JKS", source, key_password=KEY_PASSWORD)
    settings = TlsSettings(keystore_file=str(store), keystore_password=STORE_PASSWORD)
    make_context(replace(settings, key_password=KEY_PASSWORD))
    with pytest.raises(UsageError) as caught:
        make_context(settings)
    assert caught.value.message == f"the password of the key in key store `{store}` is wrong"
    assert "`ssl.key.password`" in str(caught.value.hint)


def test_password_of_any_letters(folder: Path, tmp_path: Path) -> None:
    """JKS takes what PKCS#12 refuses."""
    name = tmp_path / "any.jks"
    data = bytearray((folder / "JKS.trust").read_bytes()[:-20])
    word = OTHERS.encode("utf-16-be")
    data += hashlib.sha1(word + b"Mighty Aphrodite" + bytes(data)).digest()
    name.write_bytes(data)
    assert trust_of(TlsSettings(ca_file=str(name), ca_password=OTHERS)) is not None


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", PRIVATE)
def test_wrong_and_missing_passwords(folder: Path, kind: str) -> None:
    """The store and the property are named, the password is not."""
    trust, own = (str(folder / f"{kind}.{part}") for part in ("trust", "own"))
    for settings, what, name in (
        (TlsSettings(ca_file=trust, ca_password="hunter2"), f"trust store `{trust}`", "truststore"),
        (
            TlsSettings(keystore_file=own, keystore_password="hunter2"),
            f"key store `{own}`",
            "keystore",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            make_context(settings)
        assert caught.value.message == f"the password of {what} is wrong, or the file is damaged"
        assert caught.value.hint == f"check `ssl.{name}.password`"
    with pytest.raises(UsageError, match=r"key store `.*` needs a password"):
        make_context(TlsSettings(keystore_file=own))
    if kind == "JKS":  # Java reads certificates without the password, too
        assert trust_of(TlsSettings(ca_file=trust)) is not None
    else:
        with pytest.raises(UsageError, match=r"trust store `.*` needs a password"):
            trust_of(TlsSettings(ca_file=trust))


def test_stores_that_lack_what_is_needed(folder: Path, tmp_path: Path) -> None:
    """A missing file, a trust store for a key store, a text that is neither."""
    missing = str(tmp_path / "no.jks")
    with pytest.raises(UsageError, match=r"trust store `.*no.jks` does not exist"):
        make_context(TlsSettings(ca_file=missing))
    with pytest.raises(UsageError, match=r"key store `.*no.jks` does not exist"):
        make_context(TlsSettings(keystore_file=missing))
    for kind in PRIVATE:
        store = str(folder / f"{kind}.trust")
        with pytest.raises(UsageError, match="holds no private key"):
            make_context(TlsSettings(keystore_file=store, keystore_password=STORE_PASSWORD))
    text = tmp_path / "text"
    text.write_text("not a store")
    for settings in (TlsSettings(ca_file=str(text)), TlsSettings(keystore_file=str(text))):
        with pytest.raises(UsageError, match="cannot be read"):
            make_context(settings)


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", PRIVATE)
@pytest.mark.parametrize("part", ["trust", "own"])
def test_damaged_stores(folder: Path, tmp_path: Path, kind: str, part: str) -> None:
    """Cut off or changed anywhere, with and without a check: a sentence, never a bug."""
    whole = (folder / f"{kind}.{part}").read_bytes()
    rng, store = random.Random(20), tmp_path / "store"
    for number in range(60):
        data = bytearray(whole)
        if number % 2:
            del data[rng.randrange(len(data)) :]
        else:
            for _ in range(rng.choice((1, 1, 4))):
                data[rng.randrange(len(data))] = rng.randrange(256)
        store.write_bytes(data)
        password = STORE_PASSWORD if kind != "JKS" or number % 3 else None
        settings = TlsSettings(ca_file=str(store), ca_password=password)
        if part == "own":
            settings = TlsSettings(
                keystore_file=str(store), keystore_password=password, key_password=STORE_PASSWORD
            )
        with suppress(UsageError):
            make_context(settings)


def test_no_key_stays_on_disk(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in a file of ours alone while OpenSSL reads it, and gone after."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    def looking(context: ssl.SSLContext, certificate: str, key: str, password: str) -> None:
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())
        load(context, certificate, key, password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", looking)
    store = str(folder / "JKS.own")
    make_context(TlsSettings(keystore_file=store, keystore_password=STORE_PASSWORD))
    assert modes == [0o600, 0o600]
    assert list(tmp_path.iterdir()) == []


def test_own_certificate_that_has_expired(folder: Path) -> None:
    """Its end is told; of one that is valid nothing is."""
    store = TlsSettings(keystore_file=str(folder / "expired.p12"), keystore_password=STORE_PASSWORD)
    file = TlsSettings(
        certificate_file=str(folder / "expired.pem"), key_file=str(folder / "expired.key")
    )
    assert expiry_of(store) == expiry_of(file) == "2024-03-01 12:34 UTC"
    assert expiry_of(TlsSettings(certificate_file=str(folder / "client.pem"))) is None
