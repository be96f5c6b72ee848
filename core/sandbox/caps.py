"""The APIs that the embedded cluster serves, with their versions; also as older releases do.

The lowest versions are those of the message tables: Kafka 4's (KIP-896 took the older ones away).
`--as-version 2.8` is a look-up in the steps, one row a release from 2.4 on: the APIs that came with
it or whose highest version rose in it. Source: the message files of each release (KIP-482 flexible
versions, KIP-516 topic ids, KIP-709 and KIP-848 for groups); the same steps are listed by
franz-go's `kversion`.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pkgutil import get_data
from types import MappingProxyType
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.protocol.table import request_table
from kgroups.core.protocol.tables.api_keys import Api

Caps = Mapping[Api, tuple[int, int]]
"""Lowest and highest version offered of each API; an API that is absent is not offered."""

_RELEASES: Final = json.loads(get_data(__package__, "versions.json") or b"")
_APIS: Final = {api.kafka_name: api for api in Api}
_STEPS: Mapping[str, Mapping[Api, int]] = {
    release: {_APIS[name]: highest for name, highest in risen.items()}
    for release, risen in _RELEASES.items()
}
_HIGHEST: Final = {api: highest for risen in _STEPS.values() for api, highest in risen.items()}

API_VERSIONS: Caps = MappingProxyType(
    {api: (request_table(api).versions[0], highest) for api, highest in _HIGHEST.items()}
)


def counts_by_name(counts: Counter[tuple[Api, int]]) -> dict[str, dict[int, int]]:
    """Requests by API name and version, for people: `{"JoinGroup": {9: 4}}`."""
    named: dict[str, dict[int, int]] = {}
    for (api, version), count in sorted(counts.items()):
        named.setdefault(api.kafka_name, {})[version] = count
    return named


NEWEST = "4.4"

RELEASES: tuple[str, ...] = tuple(_STEPS)
"""Releases that can be asked for, oldest first."""


def caps_of(release: str) -> Caps:
    """Versions that a broker of this release offers, as far as they are served.

    Args:
        release: `2.8`, or with a patch number, `2.8.1`.
    Raises:
        UsageError: it is not one of `RELEASES`.
    """
    wanted = ".".join(release.split(".")[:2])
    if wanted not in _STEPS or len(release.split(".")) > 3:
        raise UsageError(
            f"unknown Kafka version `{release}`", hint=f"one of: {', '.join(RELEASES)}"
        )
    highest: dict[Api, int] = {}
    for name in RELEASES[: RELEASES.index(wanted) + 1]:
        highest.update(_STEPS[name])
    return {
        api: (API_VERSIONS[api][0], min(version, API_VERSIONS[api][1]))
        for api, version in highest.items()
    }
