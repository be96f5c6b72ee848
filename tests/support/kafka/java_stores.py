"""Trust stores and key stores as `keytool` makes them: PKCS#12 of several ages, and JKS."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.support.kafka.broker_config import STORE_PASSWORD
from tests.support.kafka.child import run_program

_QUICK: Final = ("-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1")
_LEGACY: Final = ("-J-Dkeystore.pkcs12.legacy",)
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "JKS": ("-storetype", "JKS"),
    "PKCS12": ("-storetype", "PKCS12"),
    "PKCS12 with RC2 and 3DES": (*_LEGACY, "-storetype", "PKCS12"),
    "PKCS12 without a password": (
        "-J-Dkeystore.pkcs12.certProtectionAlgorithm=NONE",
        "-J-Dkeystore.pkcs12.macAlgorithm=NONE",
        *("-storetype", "PKCS12"),
    ),
}
"""How to make a store: 3DES and RC2 are what Java wrote until 2020."""


def keytool(*words: str) -> None:
    """Run the tool, which must succeed."""
    done = run_program(("keytool", *_QUICK, "-noprompt", *words))
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)


def make_trust_store(
    store: Path, kind: str, *certificates: Path, password: str = STORE_PASSWORD
) -> Path:
    """A store of that kind that trusts the certificates."""
    for certificate in certificates:
        keytool(
            *("-importcert", "-file", str(certificate), "-alias", certificate.stem),
            *("-keystore", str(store), "-storepass", password, *KINDS[kind]),
        )
    return store


def make_key_store(
    store: Path, kind: str, source: Path, *, key_password: str | None = None
) -> Path:
    """A store of that kind with the first key of a PKCS#12 store, and its chain.

    Args:
        key_password: of the key, if it shall have another one than the store (JKS only).
    """
    keytool(
        *("-importkeystore", "-srckeystore", str(source), "-srcstorepass", STORE_PASSWORD),
        *("-destkeystore", str(store), "-deststorepass", STORE_PASSWORD),
        *(word.replace("-storetype", "-deststoretype") for word in KINDS[kind]),
    )
    if key_password is not None:
        keytool(
            *("-keypasswd", "-keystore", str(store), "-alias", source.stem, *KINDS[kind]),
            *("-storepass", STORE_PASSWORD, "-keypass", STORE_PASSWORD, "-new", key_password),
        )
    return store
