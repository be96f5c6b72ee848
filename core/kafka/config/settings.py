"""How to reach and enter a cluster: addresses, TLS, SASL, from flags and a properties file.

Whether that file gives a secret away is told, too.
"""

import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.properties import Property, read_properties
from kgroups.core.kafka.config.jaas import parse_jaas
from kgroups.core.kafka.config.spellings import to_librdkafka
from kgroups.core.kafka.config.tls import TlsSettings, tls_of


class RequestTrace(NamedTuple):
    """One request and its answer.

    Args:
        broker: `host:port`.
        api: in Kafka's spelling: `ListGroups`.
        duration_ms: from the request to the answer, or to giving up.
        sent_bytes, received_bytes: with headers, without the four bytes of the length; librdkafka
            counts a few bytes more or less. None where nothing came, or it does not tell.
        failure: why there is no answer; None if there is one.
    """

    broker: str
    api: str
    version: int
    duration_ms: float
    sent_bytes: int | None
    received_bytes: int | None
    failure: str | None = None


Trace = Callable[[RequestTrace], None]


if TYPE_CHECKING:
    from kgroups.core.kafka.config.jaas import KerberosSettings
    from kgroups.core.kafka.config.oauth import OAuthSettings

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SECURITY_PROTOCOLS: tuple[SecurityProtocol, ...] = (
    "PLAINTEXT",
    "SSL",
    "SASL_PLAINTEXT",
    "SASL_SSL",
)
PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
WIRE_MECHANISMS = (*PASSWORD_MECHANISMS, "OAUTHBEARER", "GSSAPI")
"""SASL mechanisms that the wire client speaks; others go through librdkafka."""

DEFAULT_PORT = 9092
CANONICAL = "resolve_canonical_bootstrap_servers_only"
DNS_LOOKUPS = ("use_all_dns_ips", CANONICAL)
"""Values of `client.dns.lookup`, the default first."""

DEFAULT_ANSWER_BYTES = 64 * 1024 * 1024
"""A Metadata answer about a million partitions takes 45 MB."""

_ANSWER_BYTES = "receive.message.max.bytes"
_ANSWER_RANGE = (1_000, 2_147_483_647)  # librdkafka's own
_API_TIMEOUT = "default.api.timeout.ms"
_API_TIMEOUT_RANGE = (0, 2_147_483_647)


class UnknownProtocol(UsageError):
    """A security protocol that Kafka does not have.

    Args:
        place: where it was given.
    """

    def __init__(self, place: str, value: str) -> None:
        self.expected = f"one of {', '.join(SECURITY_PROTOCOLS)}"
        self.value = value
        super().__init__(
            f"{place}: `{value.upper()}` is not a security protocol",
            hint=f"expected {self.expected}",
        )


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Everything that is needed to reach a cluster.

    Args:
        bootstrap_servers: `host:port[,host:port…]`; a port left out is 9092.
        security_protocol: as Kafka spells it.
        sasl_mechanism: as Kafka spells it; None without SASL.
        username, password: for PLAIN and SCRAM.
        oauth: for OAUTHBEARER; None where only librdkafka can get a token.
        kerberos: for GSSAPI.
        tls: used when the protocol is SSL or SASL_SSL.
        through_librdkafka: ask through librdkafka although the wire client could log in.
        client_id: as brokers log it.
        properties: every property that was given, in librdkafka's spelling, for the way in
            through librdkafka; the fields above are read from it.
        max_answer_bytes: longest answer of a broker that is accepted (librdkafka's
            `receive.message.max.bytes`).
        api_timeout_ms: `default.api.timeout.ms`, for commands without a timeout of their own.
        trace: told of every request when it is answered or given up; it can be pickled where the
            settings travel.
    """

    bootstrap_servers: str
    security_protocol: SecurityProtocol = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    oauth: "OAuthSettings | None" = None
    kerberos: "KerberosSettings | None" = None
    tls: TlsSettings = field(default_factory=TlsSettings)
    through_librdkafka: bool = False
    client_id: str = "kgroups"
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    max_answer_bytes: int = DEFAULT_ANSWER_BYTES
    api_timeout_ms: int | None = None
    trace: Trace | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Checks the addresses.

        Raises:
            UsageError: an address cannot be read.
        """
        parse_addresses(self.bootstrap_servers)

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """Host and port of each bootstrap server, in the order given."""
        return parse_addresses(self.bootstrap_servers)

    @property
    def dns_lookup(self) -> str:
        """Which of the addresses that names stand for are tried: `client.dns.lookup`."""
        return self.properties.get("client.dns.lookup", DNS_LOOKUPS[0])

    @property
    def uses_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether the broker asks who we are by SASL."""
        return self.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL")

    def wire_obstacle(self) -> str | None:
        """Why librdkafka is used and not the wire client; None if it is not."""
        if self.through_librdkafka:
            return "as requested"
        if self.uses_sasl and (self.sasl_mechanism or "GSSAPI") not in WIRE_MECHANISMS:
            return f"SASL mechanism `{self.sasl_mechanism or 'GSSAPI'}`"
        if self.uses_sasl and self.sasl_mechanism == "OAUTHBEARER" and self.oauth is None:
            return "SASL mechanism `OAUTHBEARER` with a grant of librdkafka's"
        return None


def parse_addresses(text: str) -> tuple[tuple[str, int], ...]:
    """Host and port of each address in a comma list; at least one.

    Raises:
        UsageError: an address or its port cannot be read, or there is none.
    """
    addresses: list[tuple[str, int]] = []
    for item in (part.strip() for part in text.split(",")):
        if not item:
            continue
        listener, separator, rest = item.partition("://")
        address = rest if separator else listener
        if address.startswith("["):
            host, _, tail = address[1:].partition("]")
            port_text = tail.removeprefix(":") if tail.startswith(":") or not tail else "?"
        elif address.count(":") > 1:
            raise UsageError(
                f"`{item}` is not an address", hint="write an IPv6 address as `[::1]:9092`"
            )
        else:
            host, _, port_text = address.partition(":")
        port = int(port_text) if port_text.isascii() and port_text.isdigit() else -1
        if not port_text and not address.endswith(":"):
            port = DEFAULT_PORT
        if not host or not 0 < port < 65536:
            raise UsageError(f"`{item}` is not an address", hint="expected `host:port`")
        addresses.append((host, port))
    if not addresses:
        raise UsageError(
            "no bootstrap server given",
            hint="use `--bootstrap-server host:port` or set `KGROUPS_BOOTSTRAP_SERVER`",
        )
    return tuple(addresses)


def read_settings(
    bootstrap_servers: str | None = None,
    config_file: Path | None = None,
    overrides: Mapping[str, str] | None = None,
) -> ClientSettings:
    """Settings from a flag and a properties file, the flag first.

    Args:
        bootstrap_servers: what the flag or the environment says; None takes the file's.
        config_file: Java or librdkafka properties.
        overrides: single properties, in either spelling, that win over the file's.
    Raises:
        UsageError: the file or a value in it cannot be understood, or no address is given.
    """
    given: dict[str, Property] = read_properties(config_file) if config_file else {}
    if overrides:
        given |= {
            name: Property(value, "the command line", None) for name, value in overrides.items()
        }
    return settings_of(given, bootstrap_servers)


def settings_of(
    given: Mapping[str, Property], bootstrap_servers: str | None = None
) -> ClientSettings:
    """Settings from properties in either spelling.

    Raises:
        UsageError: a value cannot be understood, or no address is given.
    """
    translated = to_librdkafka(given)
    lookup = translated.get("client.dns.lookup")
    if lookup is not None and lookup.value not in DNS_LOOKUPS:
        raise UsageError(
            f"{lookup.place}: `client.dns.lookup` is `{shorten(lookup.value)}`",
            hint=f"expected {' or '.join(DNS_LOOKUPS)}",
        )
    jaas = given.get("sasl.jaas.config")
    value = {name: item.value for name, item in translated.items()}
    protocol = value.get("security.protocol", "plaintext").upper()
    if protocol not in SECURITY_PROTOCOLS:
        place = translated["security.protocol"].place
        raise UnknownProtocol(place, translated["security.protocol"].value)
    username, password = value.get("sasl.username"), value.get("sasl.password")
    options = {} if jaas is None else parse_jaas(jaas)
    if jaas is not None:
        username, password = (
            username or options.get("username"),
            password or options.get("password"),
        )
    servers = bootstrap_servers or value.get("bootstrap.servers") or ""
    login = {"sasl.username": username, "sasl.password": password}
    properties = value | {name: text for name, text in login.items() if text is not None}
    mechanism = value.get("sasl.mechanism", "").upper() or None
    oauth, kerberos = None, None
    if protocol.startswith("SASL") and mechanism in ("OAUTHBEARER", "AWS_MSK_IAM"):
        oauth, mechanism = _oauth_of(given, options, mechanism, servers), "OAUTHBEARER"
    elif protocol.startswith("SASL") and mechanism in (None, "GSSAPI"):
        from kgroups.core.kafka.config.jaas import kerberos_of

        kerberos, mechanism = kerberos_of(given, options), "GSSAPI"
    settings = ClientSettings(
        bootstrap_servers=servers,
        security_protocol=next(name for name in SECURITY_PROTOCOLS if name == protocol),
        sasl_mechanism=mechanism,
        username=username,
        password=password,
        oauth=oauth,
        kerberos=kerberos,
        tls=tls_of(given),
        client_id=value.get("client.id") or "kgroups",
        properties=properties,
        max_answer_bytes=_number(translated, _ANSWER_BYTES, _ANSWER_RANGE, "bytes")
        or DEFAULT_ANSWER_BYTES,
        api_timeout_ms=_number(given, _API_TIMEOUT, _API_TIMEOUT_RANGE, "milliseconds"),
    )
    needs_login = settings.uses_sasl and settings.sasl_mechanism in PASSWORD_MECHANISMS
    if needs_login and (username is None or password is None):
        raise UsageError(
            f"SASL `{settings.sasl_mechanism}` needs a user name and a password",
            hint="set `sasl.jaas.config`, or `sasl.username` and `sasl.password`",
        )
    return settings


def _oauth_of(
    given: Mapping[str, Property], options: Mapping[str, str], mechanism: str, servers: str
) -> "OAuthSettings | None":
    """Where tokens come from; None where only librdkafka can get one.

    Amazon's brokers take tokens that are signed for them by the standard mechanism too.
    """
    from kgroups.core.kafka.config.oauth import aws_of, is_of_aws, oauth_obstacle, oauth_of

    if is_of_aws(given, mechanism):
        return aws_of(given, options, servers)
    return None if oauth_obstacle(given) else oauth_of(given, options)


def _number(
    properties: Mapping[str, Property], name: str, allowed: tuple[int, int], unit: str
) -> int | None:
    """A property that is a number, or None where it is not given.

    Raises:
        UsageError: it is none, or out of range.
    """
    given = properties.get(name)
    if given is None:
        return None
    low, high = allowed
    text = given.value
    if not (text.isascii() and text.isdigit() and len(text) < 11 and low <= int(text) <= high):
        raise UsageError(
            f"{given.place}: `{name}` is not a number of {unit}",
            hint=f"expected {low:,} to {high:,}",
        )
    return int(text)


_SECRET_WORDS: Final = ("password", "secret", "key.pem", "keystore.key", "token", "jaas.config")
_PLACES: Final = ("endpoint", "location", "url", "uri")
"""Properties about a secret that say where one is to be had."""


def exposed_secret(path: Path, settings: ClientSettings) -> str | None:
    """One sentence if the file holds a secret and every user of the machine may read it.

    Args:
        path: the file that the settings were read from.
    """
    if settings.password is None and not any(map(is_secret, settings.properties)):
        return None
    return exposure_of(path)


def exposure_of(path: Path) -> str | None:
    """One sentence if every user of the machine may read a file with a secret."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if not stat.S_ISREG(mode) or not mode & stat.S_IROTH:
        return None
    return f"`{path}` contains a password and is readable by every user; run `chmod 600` on it"


def is_secret(name: str) -> bool:
    """Whether a property of this name holds a secret."""
    return any(word in name for word in _SECRET_WORDS) and not name.endswith(_PLACES)
