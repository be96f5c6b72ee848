"""A real Kerberos KDC (MIT's) on loopback, with the principals of the tests."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self

from tests.support.kafka.broker import free_ports
from tests.support.kafka.child import Child, run_program
from tests.support.kafka.waiting import wait_until

REALM: Final = "KGROUPS.TEST"
USER: Final = f"alice@{REALM}"
BROKER: Final = f"kafka/127.0.0.1@{REALM}"
NEEDED: Final = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "klist", "cc")
_PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
MISSING: Final = (
    *(name for name in NEEDED if shutil.which(name, path=_PATH) is None),
    *(("the Python package gssapi",) if find_spec("gssapi") is None else ()),
)
"""What is not there; `scripts/kerberos.sh` installs it."""
CLOCK: Final = Path(__file__).parent / "native" / "wrong_clock.c"


class Kdc:
    """Serves one realm until it is left.

    Attributes:
        folder: with `krb5.conf`, `alice.keytab` and `kafka.keytab`.
        environment: of programs that are to know the realm.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kgroups-kdc-"))
        (self.port,) = free_ports(1)
        self.configuration = self.folder / "krb5.conf"
        self.environment: Mapping[str, str] = {
            **os.environ,
            "PATH": _PATH,
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
        }
        self._process: Child | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the KDC and removes its files."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def keytab(self, name: str) -> Path:
        """The keys of `alice` or of `kafka`."""
        return self.folder / f"{name}.keytab"

    @contextmanager
    def with_wrong_clock(self, ahead_s: int) -> Iterator[Path]:
        """A second KDC of the realm whose clock is so many seconds ahead; the `krb5.conf` of it."""
        (port,) = free_ports(1)
        clock, own = self.folder / "wrong_clock.so", self.folder / f"kdc-{port}.conf"
        self.run("cc", "-shared", "-fPIC", "-O1", "-o", str(clock), str(CLOCK))
        profile = Path(self.environment["KRB5_KDC_PROFILE"]).read_text()
        own.write_text(profile.replace(f":{self.port}\n", f":{port}\n"))
        wrong = {
            **self.environment,
            "KRB5_KDC_PROFILE": str(own),
            "LD_PRELOAD": str(clock),
            "WRONG_CLOCK_S": str(ahead_s),
        }
        configuration = self.folder / f"krb5-{port}.conf"
        text = self.configuration.read_text()
        configuration.write_text(text.replace(f":{self.port}\n", f":{port}\n"))
        serving = self._serve(port, wrong)
        try:
            wait_until(lambda: _listens(port), "the KDC with the wrong clock to listen")
            yield configuration
        finally:
            serving.kill()
            serving.wait(30)

    def run(self, *words: str) -> None:
        """A program of Kerberos's, which must succeed."""
        run_program(words, env=self.environment, check=True)

    def _start(self) -> None:
        folder = self.folder
        self.configuration.write_text(
            f"[libdefaults]\ndefault_realm = {REALM}\ndns_lookup_kdc = false\n"
            "dns_lookup_realm = false\ndns_canonicalize_hostname = false\nrdns = false\n"
            "udp_preference_limit = 1\n"
            f"[realms]\n{REALM} = {{\n kdc = 127.0.0.1:{self.port}\n}}\n"
        )
        (folder / "kdc.conf").write_text(
            f"[realms]\n{REALM} = {{\n database_name = {folder}/principal\n"
            f" key_stash_file = {folder}/stash\n acl_file = {folder}/acl\n"
            f" kdc_listen = 127.0.0.1:{self.port}\n kdc_tcp_listen = 127.0.0.1:{self.port}\n}}\n"
            f"[logging]\n kdc = FILE:{folder}/kdc.log\n"
        )
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        for principal, name in ((USER, "alice"), (BROKER, "kafka")):
            self.run("kadmin.local", "-q", f"addprinc -randkey {principal}")
            self.run("kadmin.local", "-q", f"ktadd -k {self.keytab(name)} {principal}")
        self._process = self._serve(self.port, self.environment)
        wait_until(lambda: _listens(self.port), "the KDC to listen")

    def _serve(self, port: int, environment: Mapping[str, str]) -> Child:
        return Child(
            ["krb5kdc", "-n", "-P", str(self.folder / f"pid-{port}")],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10):
        return True
    return False
