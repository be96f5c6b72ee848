"""Which Kerberos ticket to use, as properties of Java or librdkafka say it."""

from collections.abc import Mapping
from dataclasses import dataclass

from kgroups.core.input_files.properties import Property
from kgroups.core.kafka.config.jaas import NO_LOGIN, Login


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


def kerberos_of(given: Mapping[str, Property], login: Login | None) -> KerberosSettings:
    """Service, principal, keytab and ticket cache.

    Args:
        given: the properties, in either spelling.
        login: of `sasl.jaas.config`, if that is given.
    """
    options = (login or NO_LOGIN).options

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
