"""GSSAPI against a real KDC and a real broker. Without them these tests are skipped, by name."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.core import extras
from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import RequestTrace, read_settings
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster, free_ports
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.child import run_program
from tests.support.kafka.kdc import BROKER, REALM, USER, Kdc
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.waiting import wait_until
from tests.support.requirements import requires

pytestmark = [
    pytest.mark.kafka,
    requires("Kerberos"),
    pytest.mark.slow("a broker and a KDC; logins: tests/kafka/security/test_ping.py"),
]

MODULE = "com.sun.security.auth.module.Krb5LoginModule required"


@pytest.fixture(scope="module")
def kdc() -> Iterator[Kdc]:
    """The realm."""
    with Kdc() as started:
        yield started


@pytest.fixture(scope="module")
def broker(kdc: Kdc) -> Iterator[KafkaCluster]:
    """A broker of the realm; with TLS it wants everybody to log in again soon."""
    keys = f'useKeyTab=true storeKey=true keyTab="{kdc.keytab("kafka")}" principal="{BROKER}"'
    properties: dict[str, str] = {}
    for name in ("sasl_plaintext", "sasl_ssl"):
        properties |= {
            f"listener.name.{name}.sasl.enabled.mechanisms": "GSSAPI,PLAIN",
            f"listener.name.{name}.gssapi.sasl.jaas.config": f"{MODULE} {keys};",
            f"listener.name.{name}.sasl.kerberos.service.name": "kafka",
        }
    spec = ClusterSpec(
        protocols=("SASL_PLAINTEXT", "SASL_SSL"),
        properties={**properties, "listener.name.sasl_ssl.connections.max.reauth.ms": "1500"},
        system_properties={"java.security.krb5.conf": str(kdc.configuration)},
    )
    with KafkaCluster(spec) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def realm(kdc: Kdc, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This process knows the realm, and has no ticket."""
    monkeypatch.setenv("KRB5_CONFIG", str(kdc.configuration))
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "nothing"))
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", str(tmp_path / "no.keytab"))


def write(file: Path, broker: KafkaCluster, properties: Mapping[str, str]) -> Path:
    """A properties file for the plain listener, unless it says otherwise."""
    base = {
        "bootstrap.servers": broker.addresses("SASL_PLAINTEXT"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.kerberos.service.name": "kafka",
    }
    return write_properties_file(file, {**base, **properties})


def with_keytab(kdc: Kdc, spelling: str = "Java") -> dict[str, str]:
    """Properties that name the keytab."""
    keytab = str(kdc.keytab("alice"))
    if spelling == "Java":
        options = f'useKeyTab=true storeKey=true keyTab="{keytab}" principal="{USER}"'
        return {"sasl.mechanism": "GSSAPI", "sasl.jaas.config": f"{MODULE} {options};"}
    return {"sasl.kerberos.keytab": keytab, "sasl.kerberos.principal": USER}


@pytest.mark.parametrize("spelling", ["Java", "librdkafka"])
def test_a_keytab(broker: KafkaCluster, kdc: Kdc, tmp_path: Path, spelling: str) -> None:
    """Gets its ticket by itself; GSSAPI is what no mechanism means."""
    file = write(tmp_path / "p", broker, with_keytab(kdc, spelling))
    with ClusterAdmin(read_settings(None, file), timeout_ms=60_000) as admin:
        assert admin.notice is None
        assert admin.list_groups().cluster_id == broker.cluster_id
    outcome = run("ping", "--command-config", str(file), "--timeout", "60s", "-o", "json")
    assert outcome.exit_code == 0, outcome
    steps = {item["step"]: item for item in outcome.document["items"]}
    assert (steps["ticket"]["status"], steps["ticket"]["detail"]) == ("ok", f"for `{USER}`")
    assert steps["login"]["status"] == "ok"


@pytest.mark.parametrize("place", ["environment", "Java"])
def test_a_ticket_cache(
    broker: KafkaCluster,
    kdc: Kdc,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    """What `kinit` left, where it is by default or where the login module says."""
    cache = tmp_path / "cache"
    kdc.run("kinit", "-k", "-t", str(kdc.keytab("alice")), "-c", str(cache), USER)
    properties = {}
    if place == "environment":
        monkeypatch.setenv("KRB5CCNAME", str(cache))
    else:
        options = f'useTicketCache=true ticketCache="{cache}" serviceName="kafka"'
        properties["sasl.jaas.config"] = f"{MODULE} {options};"
    settings = read_settings(None, write(tmp_path / "p", broker, properties))
    with ClusterAdmin(settings, timeout_ms=60_000) as admin:
        assert admin.list_groups().cluster_id == broker.cluster_id


def refusal(file: Path) -> str:
    """stderr of a command that is not let in, at the step `ticket` of `ping`."""
    words = ("--command-config", str(file), "--timeout", "60s")
    outcome = run("list", *words, "--debug")
    assert outcome.exit_code == 3, outcome
    assert "Traceback" not in outcome.stderr
    ping = run("ping", *words, "-o", "json")
    last = ping.document["items"][-1]
    assert (ping.exit_code, last["step"], last["status"]) == (3, "ticket", "failed")
    errors = [line for line in outcome.stderr.splitlines() if line.startswith("error: ")]
    assert errors == [f"error: {last['detail']}"]
    return outcome.stderr


def test_no_ticket(
    broker: KafkaCluster, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No cache, another realm, no such keytab, an old key, an unknown service, no KDC, an expired
    ticket: the library's own reason.
    """
    file = tmp_path / "p"
    write(file, broker, {})
    assert "no Kerberos ticket for `kafka/127.0.0.1`: " in refusal(file)
    keytab = with_keytab(kdc, "librdkafka")
    write(file, broker, keytab | {"sasl.kerberos.principal": "alice@WRONG.TEST"})
    assert "WRONG.TEST" in refusal(file)
    write(file, broker, keytab | {"sasl.kerberos.keytab": str(tmp_path / "none")})
    assert f"{tmp_path}/none" in refusal(file)
    write(file, broker, keytab | {"sasl.kerberos.service.name": "other"})  # a ticket of its own
    said = refusal(file)
    assert "no Kerberos ticket for `other/127.0.0.1`: " in said
    assert "not found in Kerberos database" in said
    old = tmp_path / "old.keytab"
    kdc.run("kadmin.local", "-q", f"addprinc -randkey bob@{REALM}")
    kdc.run("kadmin.local", "-q", f"ktadd -k {old} bob@{REALM}")
    kdc.run("kadmin.local", "-q", f"change_password -randkey bob@{REALM}")
    write(
        file, broker, {"sasl.kerberos.keytab": str(old), "sasl.kerberos.principal": f"bob@{REALM}"}
    )
    assert "no Kerberos ticket for `kafka/127.0.0.1`: " in refusal(file)
    cache = tmp_path / "short"
    kdc.run("kinit", "-l", "1s", "-k", "-t", str(kdc.keytab("alice")), "-c", str(cache), USER)
    check = ["klist", "-s", "-c", str(cache)]
    wait_until(
        lambda: run_program(check, env=kdc.environment).returncode != 0, "the ticket to expire"
    )
    monkeypatch.setenv("KRB5CCNAME", str(cache))
    write(file, broker, {})
    assert "expired" in refusal(file)
    elsewhere = kdc.configuration.read_text().replace(str(kdc.port), str(free_ports(1)[0]))
    (tmp_path / "krb5.conf").write_text(elsewhere)
    monkeypatch.setenv("KRB5_CONFIG", str(tmp_path / "krb5.conf"))
    unused = tmp_path / "unused.keytab"  # of which no ticket is kept yet
    unused.write_bytes(kdc.keytab("alice").read_bytes())
    write(file, broker, keytab | {"sasl.kerberos.keytab": str(unused)})
    assert "KDC" in refusal(file)


def test_clocks_that_differ(
    broker: KafkaCluster, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours and the KDC's: no ticket. The KDC's and the broker's: no login. Each says so."""

    def with_new_keytab(name: str) -> Path:
        """Of which no ticket is kept yet."""
        keytab = tmp_path / name
        keytab.write_bytes(kdc.keytab("alice").read_bytes())
        named = {"sasl.kerberos.keytab": str(keytab), "sasl.kerberos.principal": USER}
        return write(tmp_path / "p", broker, named)

    with kdc.with_wrong_clock(3_600) as configuration:
        strict = tmp_path / "krb5.conf"
        strict.write_text(
            configuration.read_text().replace(
                "[libdefaults]\n", "[libdefaults]\nkdc_timesync = 0\n"
            )
        )
        monkeypatch.setenv("KRB5_CONFIG", str(strict))
        said = refusal(with_new_keytab("strict"))
        assert "no Kerberos ticket for `kafka/127.0.0.1`: Clock skew too great" in said
        assert "hint: set the clock of this machine or that of the KDC" in said
        # The library goes by the KDC's clock unless it is told not to; the broker goes by its own.
        monkeypatch.setenv("KRB5_CONFIG", str(configuration))
        outcome = run("list", "--command-config", str(with_new_keytab("as it is")))
        assert outcome.exit_code == 3
        address = broker.address(1, "SASL_PLAINTEXT")
        assert outcome.stderr == (
            f"error: {address} rejected the login of `{USER}` with GSSAPI\n\n"
            "hint: check the service name, the broker's keytab, and the clocks of both machines\n"
        )


def test_a_login_is_renewed(broker: KafkaCluster, kdc: Kdc, tmp_path: Path) -> None:
    """On the same connections (KIP-368)."""
    properties = broker.librdkafka_settings("SASL_SSL") | with_keytab(kdc)
    traces: list[RequestTrace] = []
    settings = read_settings(None, write(tmp_path / "p", broker, properties))
    with ClusterAdmin(replace(settings, trace=traces.append), timeout_ms=60_000) as admin:

        def counted(api: str) -> int:
            return sum(each.api == api for each in traces)

        def is_renewed() -> bool:
            try:
                admin.list_groups()
            except KgroupsError:  # held up for too long: it connects anew
                return False
            return counted("SaslHandshake") >= counted("ApiVersions") + 2

        wait_until(is_renewed, "logins to be renewed twice")


def test_without_the_extra(
    broker: KafkaCluster, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2 with the command that installs it."""
    monkeypatch.setattr(extras, "MODULES", {**extras.MODULES, "kerberos": ("no_such_module",)})
    file = write(tmp_path / "p", broker, with_keytab(kdc))
    outcome = run("list", "--command-config", str(file))
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith(
        "error: SASL `GSSAPI` requires the extra `kerberos` of kgroups, which is not installed\n"
    )
    assert "'kgroups[kerberos]'" in outcome.stderr
    assert "not part of `kgroups[all]`" in outcome.stderr
