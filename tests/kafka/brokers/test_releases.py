"""Every command on real brokers of old releases: it works, or says what the broker lacks.

What was seen is kept in tests/data/releases.json, from which docs/broker-versions.md is made;
`make versions` writes both.
"""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from kgroups.cli.meanings.codes import EXIT_CODES
from kgroups.core.kafka.probing.network import OPTIONAL
from kgroups.core.kafka.transport.messages import choose_version
from kgroups.core.protocol.frames import VersionRange
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.caps import API_VERSIONS, caps_of
from tests.support.endings.lines import LINES
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.release_pass import ROWS, has_row, observed
from tests.support.kafka.releases import RELEASES
from tests.support.protocol.spoken_apis import APIS, api_of

FILE: Final = Path(__file__).parents[2] / "data" / "releases.json"
SEEN: Final[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}


@pytest.mark.kafka
@pytest.mark.slow("brokers of each release; the embedded cluster imitates them in every run")
@pytest.mark.parametrize("release", RELEASES, ids=lambda name: name.replace(" ", "-"))
def test_every_command(release: str, tmp_path: Path) -> None:
    """As the table says."""
    with KafkaCluster(ClusterSpec(release=release)) as cluster:
        found = observed(cluster.bootstrap, release, tmp_path)
    if os.environ.get("KGROUPS_WRITE_RELEASES") == "1":
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        known[release] = found
        ordered = {name: known[name] for name in RELEASES if name in known}
        FILE.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
    else:
        assert found == SEEN[release]


def test_the_table_is_whole() -> None:
    """Every release, and every command that asks a cluster; groups of each type where there are."""
    assert list(SEEN) == list(RELEASES)
    for release, seen in SEEN.items():
        rows = [row for row in ROWS if has_row(release, row)]
        assert list(seen["rows"]) == rows
    asking = {line.of for line in LINES.values() if line.asks and line.kind != "heavy"}
    without = {name for name in asking if not any(f"{row} ".startswith(f"{name} ") for row in ROWS)}
    assert without <= {"", "official"}  # completion, and delete-records in the official words


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_missing_is_what_the_product_knows(release: str) -> None:
    """The APIs that may be missing, as `ping` names them; all others are there."""
    offered = SEEN[release]["apis"]
    missing = {
        api_of(api)
        for api in APIS
        if choose_version(api_of(api), VersionRange(*offered[api]) if api in offered else None)
        is None
    }
    assert missing <= set(OPTIONAL)
    said = ", ".join(SEEN[release]["rows"]["ping"]["said"])
    assert {api for api in OPTIONAL if OPTIONAL[api] in said} == missing


@pytest.mark.parametrize("release", RELEASES)
def test_the_embedded_cluster_imitates_it(release: str) -> None:
    """`--as-version` offers what the real brokers do, as far as both sides know it."""
    offered = SEEN[release]["apis"]
    caps = caps_of(release.split(" ")[0])
    for api in set(APIS) & {each.name.lower() for each in API_VERSIONS}:
        own = Api[api.upper()]
        real = min(offered[api][1], API_VERSIONS[own][1]) if api in offered else None
        assert (caps[own][1] if own in caps else None) == real, api


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_said_is_plain(release: str) -> None:
    """A sentence, with an exit code of the contract; nothing fails for a reason not given."""
    codes = {int(each.code) for each in EXIT_CODES} - {70}
    for row, seen in SEEN[release]["rows"].items():
        assert seen["exit"] in codes, row
        assert seen["said"] or not seen["exit"], row
        for text in seen["said"]:
            assert not text.endswith("."), row
            assert "UNSUPPORTED_VERSION" not in text, row
