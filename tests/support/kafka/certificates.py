"""Throw-away certificates for the TLS listeners: an authority, a broker's and a client's."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.kafka.broker_config import STORE_PASSWORD
from tests.support.kafka.child import run_program

HERE = "DNS:localhost,IP:127.0.0.1"
# Certificates that no client should take: name -> for whom, from and until when.
ODD: Mapping[str, tuple[str, str, str]] = {
    "expired": (HERE, "20240101000000Z", "20240301123456Z"),
    "early": (HERE, "20980101000000Z", "20990101000000Z"),
    "elsewhere": ("DNS:kafka-1.example,DNS:*.kafka.example,IP:10.0.0.1", "", ""),
}
_AUTHORITY = """
[ca]
default_ca = here
[here]
new_certs_dir = .
database = index
serial = serial
default_md = sha256
default_days = 2
unique_subject = no
policy = any
[any]
commonName = supplied
"""


def _openssl(folder: Path, *arguments: str) -> None:
    """Run openssl in `folder`; its words become the error when it fails."""
    done = run_program(["openssl", *arguments], cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr}")


def _new_key(name: str) -> tuple[str, ...]:
    """Arguments for a fresh elliptic-curve key, much faster to make than RSA."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
    return (*curve, "-keyout", f"{name}.key")


def make_certificates(folder: Path, odd: Iterable[str] = ()) -> None:
    """Fill `folder` with PEM files and PKCS12 stores.

    `ca.pem` is trusted; `broker.p12`, and `client.pem` + `client.key` and `client.p12`, are signed
    by it; `stranger.pem` is an authority that signed nothing. Stores: `STORE_PASSWORD`.

    Args:
        folder: made if it is not there.
        odd: which of `ODD` are wanted too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ca.cnf").write_text(_AUTHORITY)
    (folder / "index").touch()
    for authority in ("ca", "stranger"):
        _openssl(
            folder,
            *("req", "-x509", *_new_key(authority), "-days", "2"),
            *("-subj", f"/CN=kgroups {authority}", "-out", f"{authority}.pem"),
        )
    for name in ("broker", "client"):
        _sign(folder, name, HERE)
    for name in odd:
        _sign(folder, name, *ODD[name])


def _sign(folder: Path, name: str, names: str, start: str = "", end: str = "") -> None:
    """A key, its certificate and both in a store.

    Args:
        names: whom it is for, as `subjectAltName` has it.
        start, end: `YYYYMMDDHHMMSSZ`; empty for two days from now.
    """
    extensions = f"subjectAltName={names}\nbasicConstraints=CA:FALSE\n"
    (folder / f"{name}.ext").write_text(extensions)
    _openssl(folder, "req", *_new_key(name), "-subj", f"/CN={name}", "-out", f"{name}.csr")
    times = ("-startdate", start, "-enddate", end) if end else ()
    _openssl(
        folder,
        *("ca", "-batch", "-notext", "-rand_serial", "-config", "ca.cnf", *times),
        *("-in", f"{name}.csr", "-cert", "ca.pem", "-keyfile", "ca.key"),
        *("-extfile", f"{name}.ext", "-out", f"{name}.pem"),
    )
    _openssl(
        folder,
        *("pkcs12", "-export", "-in", f"{name}.pem", "-inkey", f"{name}.key"),
        *("-certfile", "ca.pem", "-name", name, "-passout", f"pass:{STORE_PASSWORD}"),
        *("-out", f"{name}.p12"),
    )
