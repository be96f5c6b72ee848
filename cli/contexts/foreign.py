"""Configurations of other clients as contexts: Java properties, kcl, kaf, kafkactl, rpk."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.input_files.properties import parse_properties

MAX_BYTES: Final = MIB
EXPECTED: Final = "Java properties, or the configuration of kcl, kaf, kafkactl or rpk"
MECHANISMS: Final[Mapping[str, str]] = {
    "": "PLAIN",
    "plain": "PLAIN",
    "plaintext": "PLAIN",
    "scramsha256": "SCRAM-SHA-256",
    "scramsha512": "SCRAM-SHA-512",
}
"""SASL mechanisms as these tools write them, without signs and in small letters."""

CLIENT: Final[Mapping[str, str]] = {
    "tokenURL": "sasl.oauthbearer.token.endpoint.url",
    "clientID": "sasl.oauthbearer.client.credentials.client.id",
    "clientSecret": "sasl.oauthbearer.client.credentials.client.secret",
}
"""kaf's settings for a client of an OpenID Connect provider, and how Java spells them."""

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Profile:
    """One cluster of another client's configuration.

    Args:
        name: under which it stands there.
        tls: its part about TLS; None without TLS.
        sasl: its part about the login; None without login.
        keys: how `tls` and `sasl` spell ca, certificate, key, insecure, mechanism, user, password.
        client_id: as brokers log it.
    """

    name: str
    brokers: Any
    tls: Mapping[str, Any] | None
    sasl: Mapping[str, Any] | None
    keys: tuple[str, str, str, str, str, str, str]
    timeout: str | None = None
    client_id: Any = None


def read_foreign(path: Path, kind: str | None, name: str | None) -> dict[str, Fields]:
    """The fields of each context, by its name.

    Args:
        kind: one of `KINDS`; None finds out.
        name: of the context, for a file that holds one; None takes that of the file.
    Raises:
        UsageError: the file cannot be read or understood, or holds several and one is named.
    """
    text = read_text(path, MAX_BYTES, EXPECTED)
    own = re.sub(r"^config[_-]", "", path.stem) or path.stem
    kind = kind or _kind_of(path, text)
    if kind == "java":
        return {name or _fitting(own): _of_properties(text, path)}
    profiles = list(_READERS[kind](_tree(text, path, kind), _fitting(own)))
    if name is not None and len(profiles) != 1:
        raise UsageError(f"`{path}` holds {len(profiles)} contexts, so --name cannot name them")
    contexts = {name or _fitting(profile.name): _fields(profile, path) for profile in profiles}
    if not contexts:
        raise UsageError(f"`{path}` holds no cluster", hint=f"expected {EXPECTED}")
    return contexts


def _kind_of(path: Path, text: str) -> str:
    if path.suffix == ".toml":
        return "kcl"
    if path.suffix != ".properties":
        try:
            tree = parse_document(text, str(path), "yaml").value
        except UsageError:
            tree = None
        for kind, key, form in (
            ("kaf", "clusters", list),
            ("rpk", "profiles", list),
            ("kafkactl", "contexts", dict),
        ):
            if isinstance(tree, dict) and isinstance(tree.get(key), form):
                return kind
    return "java"


def _tree(text: str, path: Path, kind: str) -> Mapping[str, Any]:
    tree: Any
    if kind == "kcl":
        try:
            tree = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise UsageError(f"`{path}`: not TOML: {error}") from error
    else:
        tree = parse_document(text, str(path), "yaml").value
    return _mapping(tree, "the file")


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{what} is not a mapping", hint=f"expected {EXPECTED}")
    return value


def _part(value: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    """A mapping below a key; None if there is none."""
    part = value.get(key)
    return None if part is None else _mapping(part, f"`{key}`")


def _list(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise UsageError(f"`{key}` is not a list", hint=f"expected {EXPECTED}")
    return value


def _of_kcl(tree: Mapping[str, Any], own: str) -> Iterator[Profile]:
    keys = ("ca_cert_path", "client_cert_path", "client_key_path", "insecure")
    for name, entry in (_part(tree, "profiles") or {own: tree}).items():
        part = _mapping(entry, f"`{name}`")
        timeout = part.get("timeout_ms")
        yield Profile(
            name,
            part.get("seed_brokers", ["localhost:9092"]),
            _part(part, "tls"),
            _part(part, "sasl"),
            (*keys, "method", "user", "pass"),
            timeout=f"{timeout}ms" if isinstance(timeout, int) else None,
        )


def _of_kaf(tree: Mapping[str, Any], _: str) -> Iterator[Profile]:
    keys = ("cafile", "clientfile", "clientkeyfile", "insecure")
    for entry in _list(tree.get("clusters"), "clusters"):
        part = _mapping(entry, "a cluster")
        protocol = str(part.get("security-protocol") or "")
        tls = _part(part, "TLS")
        yield Profile(
            str(part.get("name") or ""),
            part.get("brokers"),
            (tls or {}) if tls is not None or protocol.endswith("SSL") else None,
            _part(part, "SASL"),
            (*keys, "mechanism", "username", "password"),
        )


def _of_kafkactl(tree: Mapping[str, Any], _: str) -> Iterator[Profile]:
    for name, entry in (_part(tree, "contexts") or {}).items():
        part = _mapping(entry, f"`{name}`")
        tls, sasl = _part(part, "tls"), _part(part, "sasl")
        timeout = part.get("requesttimeout") or part.get("requestTimeout")
        yield Profile(
            name,
            part.get("brokers", ["localhost:9092"]),
            tls if tls and tls.get("enabled") is True else None,
            sasl if sasl and sasl.get("enabled") is True else None,
            (
                *("ca", "cert", "certKey" if tls and "certKey" in tls else "certkey", "insecure"),
                *("mechanism", "username", "password"),
            ),
            timeout=None if timeout is None else str(timeout),
            client_id=part.get("clientID") or part.get("clientid"),
        )


def _of_rpk(tree: Mapping[str, Any], _: str) -> Iterator[Profile]:
    for entry in _list(tree.get("profiles"), "profiles"):
        part = _mapping(entry, "a profile")
        api = _part(part, "kafka_api") or {}
        tls = _part(api, "tls")
        is_on = tls is not None and tls.get("enabled", True) is not False
        ca = "ca_file" if tls and "ca_file" in tls else "truststore_file"
        yield Profile(
            str(part.get("name") or ""),
            api.get("brokers", ["127.0.0.1:9092"]),
            tls if is_on else None,
            _part(api, "sasl"),
            (ca, "cert_file", "key_file", "insecure_skip_verify", "mechanism", "user", "password"),
        )


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any], str], Iterator[Profile]]]] = {
    "kcl": _of_kcl,
    "kaf": _of_kaf,
    "kafkactl": _of_kafkactl,
    "rpk": _of_rpk,
}
KINDS: Final = ("java", *_READERS)


def _fitting(name: str) -> str:
    """A name that a context may have, as near as can be."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip("._-")[:63]


def _fields(profile: Profile, path: Path) -> Fields:
    """The fields of a context for a profile.

    Raises:
        UsageError: its brokers are none, or its SASL mechanism has no equivalent.
    """
    what = f"`{path}`, `{profile.name}`"
    brokers = profile.brokers
    if not isinstance(brokers, list) or not all(isinstance(broker, str) for broker in brokers):
        raise UsageError(f"{what}: the brokers are not a list of addresses")
    ca, certificate, key, insecure, mechanism, user, password = profile.keys
    tls, sasl = profile.tls, profile.sasl
    props: dict[str, str] = {}
    if sasl is not None:
        given = str(sasl.get(mechanism) or "")
        plain = re.sub(r"[-_ ]", "", given.lower())
        if plain in MECHANISMS:
            props["sasl.mechanism"] = MECHANISMS[plain]
            props["sasl.username"] = str(sasl.get(user) or "")
            props["sasl.password"] = str(sasl.get(password) or "")
        elif plain == "awsmskiam" and not sasl.get(user):
            props["sasl.mechanism"] = "AWS_MSK_IAM"
        elif plain == "oauthbearer" and all(sasl.get(key) for key in CLIENT):
            props["sasl.mechanism"] = "OAUTHBEARER"
            props |= {name: str(sasl[key]) for key, name in CLIENT.items()}
            if sasl.get("scopes"):
                scopes = _list(sasl["scopes"], "scopes")
                props["sasl.oauthbearer.scope"] = " ".join(map(str, scopes))
        else:
            raise UsageError(
                f"{what}: SASL mechanism `{given}` has no equivalent here",
                hint="add this context by hand with `kgroups context add`",
            )
    if tls is not None:
        for name, source in (
            ("ssl.ca.location", ca),
            ("ssl.certificate.location", certificate),
            ("ssl.key.location", key),
        ):
            if tls.get(source):
                props[name] = str(path.parent.absolute() / Path(str(tls[source])).expanduser())
        if tls.get(insecure) is True:
            props["enable.ssl.certificate.verification"] = "false"
    if tls is not None or sasl is not None:
        protocol = f"{'SASL_' if sasl is not None else ''}{'SSL' if tls is not None else ''}"
        props = {"security.protocol": protocol if tls is not None else "SASL_PLAINTEXT", **props}
    if profile.client_id:
        props["client.id"] = str(profile.client_id)
    fields: Fields = {"bootstrap_servers": ",".join(brokers)}
    if profile.timeout is not None:
        fields["timeout"] = profile.timeout
    return fields | ({"properties": props} if props else {})


def _of_properties(text: str, path: Path) -> Fields:
    properties = {name: entry.value for name, entry in parse_properties(text, str(path)).items()}
    servers = properties.pop("bootstrap.servers", None)
    for name, value in properties.items():
        if name.endswith(".location"):
            properties[name] = str(path.parent.absolute() / Path(value).expanduser())
    fields: Fields = {} if servers is None else {"bootstrap_servers": servers}
    return fields | ({"properties": properties} if properties else {})
