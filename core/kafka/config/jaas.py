"""Java's `sasl.jaas.config`: one login module and its options; which Kerberos ticket they name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kgroups.core.errors import UsageError
from kgroups.core.input_files.properties import Property

_HINT = (
    'expected `org.apache.kafka.common.security.scram.ScramLoginModule required username="…" '
    'password="…";`'
)
_OPTION = (
    r"""(?s)\s*(?P<name>[\w.$-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s";]+))"""
)


def parse_jaas(config: Property) -> dict[str, str]:
    """The options of the login module of a `sasl.jaas.config` value; some are secrets.

    Args:
        config: the property; its value is not repeated in messages because it holds secrets.
    Raises:
        UsageError: the text is not one login module with options, ended by a semicolon.
    """
    text = config.value.strip()
    head = re.match(r"[\w.$]+\s+(required|requisite|sufficient|optional)\b", text, re.IGNORECASE)
    if head is None:
        raise UsageError(f"{config.place}: `sasl.jaas.config` has no login module", hint=_HINT)
    options: dict[str, str] = {}
    position = head.end()
    option = re.compile(_OPTION)
    while match := option.match(text, position):
        quoted = match["quoted"]
        value = match["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[match["name"]] = value
        position = match.end()
    if text[position:].strip() != ";":
        what = "does not end with `;`" if not text[position:].strip() else "has a malformed option"
        raise UsageError(f"{config.place}: `sasl.jaas.config` {what}", hint=_HINT)
    return options


@dataclass(frozen=True, slots=True)
class KerberosSettings:
    """How to log in with GSSAPI.

    Args:
        service: the brokers' service name, the first part of their principal.
        principal: who we are; None for whoever the ticket or the keytab is for.
        keytab: file with our keys; None to use a ticket that is there.
        ticket_cache: where the ticket is; None for the default (`KRB5CCNAME`).
    """

    service: str = "kafka"
    principal: str | None = None
    keytab: str | None = None
    ticket_cache: str | None = None


def kerberos_of(given: Mapping[str, Property], options: Mapping[str, str]) -> KerberosSettings:
    """Service, principal, keytab and ticket cache.

    Args:
        given: the properties, in either spelling.
        options: of `sasl.jaas.config`.
    """

    def one(name: str, option: str) -> str | None:
        return given[name].value if name in given else options.get(option)

    uses_keytab = options.get("useKeyTab", "true").lower() == "true"
    keytab = one("sasl.kerberos.keytab", "keyTab")
    return KerberosSettings(
        service=one("sasl.kerberos.service.name", "serviceName") or "kafka",
        principal=one("sasl.kerberos.principal", "principal"),
        keytab=keytab if uses_keytab else None,
        ticket_cache=options.get("ticketCache"),
    )
