"""Throw-away certificates for the TLS listeners: an authority, a broker's and a client's."""

import subprocess
from pathlib import Path

from tests.support.kafka.broker_config import STORE_PASSWORD

# An extension of the signed certificate needs a file; both sides get the same names.
EXTENSIONS = "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n"


def _openssl(folder: Path, *arguments: str) -> None:
    """Run openssl in `folder`; its words become the error when it fails."""
    done = subprocess.run(
        ["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr}")


def _new_key(name: str) -> tuple[str, ...]:
    """Arguments for a fresh elliptic-curve key, much faster to make than RSA."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
    return (*curve, "-keyout", f"{name}.key")


def make_certificates(folder: Path) -> None:
    """Fill `folder` with PEM files and PKCS12 stores.

    `ca.pem` is trusted; `broker.p12`, and `client.pem` + `client.key` and `client.p12`, are signed
    by it; `stranger.pem` is an authority that signed nothing. Stores: `STORE_PASSWORD`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "extensions").write_text(EXTENSIONS)
    for authority in ("ca", "stranger"):
        _openssl(
            folder,
            *("req", "-x509", *_new_key(authority), "-days", "2"),
            *("-subj", f"/CN=kgroups {authority}", "-out", f"{authority}.pem"),
        )
    for name in ("broker", "client"):
        subject = f"/CN={name}"
        _openssl(folder, "req", *_new_key(name), "-subj", subject, "-out", f"{name}.csr")
        _openssl(
            folder,
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key"),
            *("-CAcreateserial", "-days", "2", "-extfile", "extensions", "-out", f"{name}.pem"),
        )
        _openssl(
            folder,
            *("pkcs12", "-export", "-in", f"{name}.pem", "-inkey", f"{name}.key"),
            *("-certfile", "ca.pem", "-name", name, "-passout", f"pass:{STORE_PASSWORD}"),
            *("-out", f"{name}.p12"),
        )
