"""The client's half of GSSAPI with Kerberos (RFC 4752), by the system's Kerberos library.

A ticket is asked of the KDC when the first message is made, so the messages are to be made beside
the event loop.
"""

from typing import Any, Final

from kgroups.core.errors import shorten
from kgroups.core.extras import require_extra
from kgroups.core.kafka.config.jaas import KerberosSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.logins.mechanism import LoginError, Messages

CODE: Final = "TICKET_NOT_AVAILABLE"
_NO_LAYER: Final = 1
_CACHE: Final = "MEMORY:kgroups"
"""Begins the names of caches for tickets of keytabs: each has its own, which ends with us."""


def kerberos(settings: KerberosSettings, host: str) -> tuple[str, Messages]:
    """Whose ticket is used, and the messages of a login with it.

    The broker has to prove who it is too.

    Args:
        host: of the broker, which its principal names.
    Raises:
        BrokerFailure: there is no ticket, and no key to get one with.
        MissingExtraError: the library is not installed.
    """
    require_extra("kerberos", "SASL `GSSAPI`")
    import gssapi
    from gssapi.exceptions import GSSError

    try:
        credentials = _credentials(settings)
        whose = str(credentials.name)
        context = gssapi.SecurityContext(
            name=gssapi.Name(f"{settings.service}@{host}", gssapi.NameType.hostbased_service),
            creds=credentials,
            mech=gssapi.MechType.kerberos,
            flags=[gssapi.RequirementFlag.mutual_authentication],
            usage="initiate",
        )
    except GSSError as error:
        raise _no_ticket(settings, host, error) from error
    return whose, _messages(context, settings, host)


def _credentials(settings: KerberosSettings) -> Any:
    """Our ticket, or the keys to get one with.

    Raises:
        GSSError: there are none.
    """
    import gssapi

    name = None
    if settings.principal is not None:
        name = gssapi.Name(settings.principal, gssapi.NameType.kerberos_principal)
    store: dict[str, str] = {}
    if settings.keytab is not None:
        own = f"{_CACHE} {settings.principal or ''} {settings.keytab}"
        store = {"client_keytab": settings.keytab, "ccache": own}
    elif settings.ticket_cache is not None:
        store = {"ccache": settings.ticket_cache}
    return gssapi.Credentials(name=name, usage="initiate", store=store or None)


def _messages(context: Any, settings: KerberosSettings, host: str) -> Messages:
    from gssapi import RequirementFlag
    from gssapi.exceptions import GSSError

    answer: bytes | None = None
    while not context.complete:
        try:
            message = context.step(answer)
        except GSSError as error:
            if answer is None:
                raise _no_ticket(settings, host, error) from error
            raise LoginError(_said(error)) from error
        answer = yield message or b""
    if RequirementFlag.mutual_authentication not in context.actual_flags:
        raise LoginError("the broker did not prove who it is")
    try:
        layers = context.unwrap(answer or b"").message
        if not layers or not layers[0] & _NO_LAYER:
            raise LoginError("the broker wants a security layer, which Kafka does not have")
        message = context.wrap(bytes((_NO_LAYER, 0, 0, 0)), False).message
    except GSSError as error:
        raise LoginError(_said(error)) from error
    yield message


def _said(error: Any) -> str:
    """The cause as the library gives it, in one line: the minor status, unless it is empty."""
    said = ""
    for code, is_major in ((error.min_code, False), (error.maj_code, True)):
        texts = (
            text.decode(errors="replace") if isinstance(text, bytes) else text
            for text in error.get_all_statuses(code, is_major)
        )
        said = shorten(" ".join(": ".join(texts).split()))
        if said not in ("", "Success"):
            break
    return said


def _no_ticket(settings: KerberosSettings, host: str, error: Any) -> BrokerFailure:
    hint = "run `klist` and `kinit`, and check the realm and its KDC in krb5.conf"
    if settings.keytab is not None:
        hint = f"check `kinit -k -t {settings.keytab} {settings.principal or 'PRINCIPAL'}`"
    said = _said(error)
    if "clock skew" in said.lower():  # the library's numbers for it differ from run to run
        hint = "set the clock of this machine or that of the KDC: they differ by too much"
    service = shorten(f"{settings.service}/{host}")
    return BrokerFailure(CODE, f"no Kerberos ticket for `{service}`: {said}", hint=hint, fatal=True)
