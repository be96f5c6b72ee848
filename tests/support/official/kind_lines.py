"""Command lines for the tools of share groups and streams groups, as `lines.py` has them."""

from tests.support.official.kinds_world import SHARE_GROUPS, STREAMS_GROUPS
from tests.support.official.lines import Line

_THREE = {("kind-a", 0): 3, ("kind-a", 1): 10, ("kind-b", 1): 4}

PARSING = (
    "--list --bogus",
    "--bootstrap-server",
    "--bootstrap-server {b} --list --verbose",
    "--bootstrap-server {b} --list --members",
    "--bootstrap-server {b} --delete --group g --state",
    "--list",
    "--bootstrap-server {b}",
    "--bootstrap-server {b} --group g",
    "--bootstrap-server {b} --describe",
    "--bootstrap-server {b} --describe --group g --members --state",
    "--bootstrap-server {b} --describe --group g --members --offsets --state",
    "--bootstrap-server {b} --describe --group g --state Stable",
    "--bootstrap-server {b} --describe --group g --all-groups",
    "--bootstrap-server {b} --list --group g",
    "--bootstrap-server {b} --list --describe --group g",
    "--bootstrap-server {b} --list --delete --all-groups",
    "--bootstrap-server {b} --delete",
    "--bootstrap-server {b} --delete --group g --all-groups",
    "--bootstrap-server {b} --delete-offsets",
    "--bootstrap-server {b} --delete-offsets --group g",
    "--bootstrap-server {b} --reset-offsets --group g --to-earliest",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --execute",
    "--bootstrap-server {b} --reset-offsets --to-earliest --dry-run",
    "--help",
    "--version",
    "--bootstrap-server {b} --list --state bogus",
    "--bootstrap-server {b} --list --state '  ,  ,'",
    "--bootstrap-server {b} --list --state PreparingRebalance",
    "--bootstrap-server {b} --list --timeout abc",
    "--bootstrap-server nowhere --list",
    "--bootstrap-server 127.0.0.1:1 --list --timeout 300",
    "--bootstrap-server 127.0.0.1:1 --list --state --timeout 300",
    "--bootstrap-server 127.0.0.1:1 --describe --group g --timeout 300",
    "--bootstrap-server 127.0.0.1:1 --delete --group g --timeout 300",
    "--bootstrap-server {b} --list --command-config {f}/missing.properties",
    "--bootstrap-server {b} --list --command-config {f}/client.properties",
    "--bootstrap-server {b} --list",
    "--bootstrap-server={b} -list a stray word",
    "--bootstrap-server {b} --list --state",
    "--bootstrap-server {b} --list --state 'STABLE, empty,'",
    "--bootstrap-server {b} --list --state Dead",
    "--bootstrap-server {b} --describe --all-groups --state",
    "--bootstrap-server {b} --describe --all-groups --state --verbose",
    "--bootstrap-server {b} --describe --group nobody",
    "--bootstrap-server {b} --describe --group nobody --members",
    "--bootstrap-server {b} --describe --group plain --state",
)
"""Lines that both tools have."""

_DESCRIBE = "--bootstrap-server {b} --describe "
_SHARE_READING = (
    _DESCRIBE + "--all-groups",
    _DESCRIBE + "--all-groups --verbose",
    _DESCRIBE + "--all-groups --members",
    _DESCRIBE + "--all-groups --members --verbose",
    _DESCRIBE + "--group share-empty",
    _DESCRIBE + "--group share-empty --offsets --verbose",
    _DESCRIBE + "--group share-live --members --verbose",
    _DESCRIBE + "--group share-live --group share-stuck --group share-live --members",
    _DESCRIBE + "--group a-group-with-a-name-that-is-much-longer-than-any-column",
    *(
        _DESCRIBE + "--group share-java " + view
        for view in (
            "",
            "--verbose",
            "--offsets --verbose",
            "--members",
            "--members --verbose",
            "--state",
            "--state --verbose",
        )
    ),
    _DESCRIBE + "--group g --topic t",
    "--bootstrap-server {b} --list --topic t",
    "--bootstrap-server {b} --delete --group g --topic t",
    "--bootstrap-server {b} --delete --group g --all-topics",
    "--bootstrap-server {b} --delete-offsets --topic t",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --topic t",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --topic t --all-topics --to-latest",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --topic t --to-latest "
    "--to-offset 1",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --topic t --shift-by 1",
    "--bootstrap-server {b} --delete --group share-live",
    "--bootstrap-server {b} --delete --group share-java",
    "--bootstrap-server {b} --delete-offsets --group share-java --topic kind-a --topic kind-b",
    *(
        f"--bootstrap-server {{b}} --reset-offsets --group share-java {target}"
        for target in (
            "--all-topics --to-earliest --dry-run",
            "--all-topics --to-earliest --execute",
            "--topic kind-a:0 --to-offset 5 --execute",
            "--topic kind-b --to-datetime 2020-01-01T00:00:00.000 --execute",
        )
    ),
    "--bootstrap-server {b} --list --state Stable",
    "--bootstrap-server {b} --delete --group nobody",
    "--bootstrap-server {b} --delete --group plain --group share-stuck",
    "--bootstrap-server {b} --delete-offsets --group g --group h --topic t",
    "--bootstrap-server {b} --delete-offsets --group nobody --topic kind-a",
    "--bootstrap-server {b} --delete-offsets --group share-live --topic kind-a",
    "--bootstrap-server {b} --delete-offsets --group plain --topic kind-a",
)


def _share(text: str, *groups: str) -> Line:
    """A line that changes share groups, which stand at a few offsets before."""
    names = groups or ("share-x",)
    return Line(
        f"--bootstrap-server {{b}} {text}",
        "share-groups",
        offsets=dict.fromkeys(names, _THREE),
    )


_RESET = "--reset-offsets --group share-x "
_SHARE_CHANGING = (
    _share("--delete --group share-x"),
    _share("--delete --group share-x --group share-y", "share-x", "share-y"),
    _share("--delete --group share-x --group nobody"),
    _share("--delete --group share-x --group share-live"),
    _share("--delete-offsets --group share-x --topic kind-a"),
    _share("--delete-offsets --group share-x --topic kind-a --topic kind-b"),
    _share("--delete-offsets --group share-x --topic kind-a --topic nope"),
    _share("--delete-offsets --group share-x --topic nope"),
    _share("--delete-offsets --group share-x --topic texts"),
    _share(_RESET + "--topic kind-a --to-earliest --dry-run"),
    _share(_RESET + "--topic kind-a --to-earliest --execute"),
    _share(_RESET + "--topic kind-a:0,1 --topic kind-b --to-latest --execute"),
    _share(_RESET + "--all-topics --to-latest --execute"),
    _share(_RESET + "--all-topics --to-latest --dry-run --export"),
    _share(_RESET + "--all-topics --to-current --execute --export"),
    _share(_RESET + "--topic kind-a --to-current --dry-run"),
    _share(_RESET + "--topic kind-a --to-offset 7 --execute"),
    _share(_RESET + "--topic kind-a --to-offset 700 --execute"),
    _share(_RESET + "--topic kind-a --to-offset -7 --dry-run"),
    _share(_RESET + "--topic kind-a --to-datetime 2020-01-01T00:00:00.000 --execute"),
    _share(_RESET + "--topic kind-a --to-datetime 2090-01-01T00:00:00.000 --execute"),
    _share(_RESET + "--topic kind-a --to-datetime yesterday --execute"),
    _share(_RESET + "--topic kind-a:9 --to-latest --dry-run"),
    _share(_RESET + "--topic nope --to-latest --dry-run"),
    _share(_RESET + "--topic nope:0 --to-latest --dry-run"),
    _share(_RESET + "--topic kind-a:x --to-latest --dry-run"),
    _share(_RESET + "--from-file {f}/kind.csv --execute"),
    _share(_RESET + "--from-file {f}/kind.csv --dry-run --export"),
    _share(_RESET + "--from-file {f}/none.csv --execute"),
    _share("--reset-offsets --group share-live --topic kind-a --to-latest --dry-run"),
    _share("--reset-offsets --group plain --topic kind-a --to-latest --dry-run"),
)

_STREAMS_READING = (
    _DESCRIBE + "--group app-live",
    _DESCRIBE + "--group app-live --verbose",
    _DESCRIBE + "--group app-live --offsets",
    _DESCRIBE + "--group app-live --members",
    _DESCRIBE + "--group app-live --members --verbose",
    _DESCRIBE + "--group app-live --state",
    _DESCRIBE + "--group app-live --state --verbose",
    _DESCRIBE + "--group app-live --offsets --verbose",
    _DESCRIBE + "--group app-live --group app-late --state",
    _DESCRIBE + "--all-groups --members",
    _DESCRIBE + "--group app-empty --state --verbose",
    _DESCRIBE + "--group app-empty --members",
    _DESCRIBE + "--group app-empty",
    _DESCRIBE + "--group app-live --topology",
    _DESCRIBE + "--group app-empty --topology",
    _DESCRIBE + "--group plain --topology",
    _DESCRIBE + "--group g --topology --state",
    _DESCRIBE + "--group g --input-topic t",
    "--bootstrap-server {b} --list --state NotReady",
    "--bootstrap-server {b} --list --dry-run",
    "--bootstrap-server {b} --list --input-topic t",
    "--bootstrap-server {b} --delete --group g --input-topic t",
    "--bootstrap-server {b} --delete --group g --execute",
    "--bootstrap-server {b} --delete --group g --delete-internal-topic t",
    "--bootstrap-server {b} --list --delete-all-internal-topics",
    "--bootstrap-server {b} --delete-offsets --input-topic t",
    "--bootstrap-server {b} --delete-offsets --group g --group h --input-topic t",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --delete-all-internal-topics",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --delete-internal-topic t",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --to-latest --shift-by 1",
    "--bootstrap-server {b} --reset-offsets --group app-empty --dry-run --to-latest",
    "--bootstrap-server {b} --reset-offsets --group app-empty --dry-run --all-input-topics",
    "--bootstrap-server {b} --reset-offsets --group app-live --dry-run --to-latest "
    "--all-input-topics",
    "--bootstrap-server {b} --delete --group app-live",
    "--bootstrap-server {b} --delete --group nobody",
    "--bootstrap-server {b} --delete --group plain --group app-late",
    "--bootstrap-server {b} --delete-offsets --group nobody --input-topic kind-a",
    *(
        f"--bootstrap-server {{b}} --delete-offsets --group app-live --input-topic {topic}"
        for topic in ("texts:0", "texts", "nope:0", "nope")
    ),
)


def _app(text: str, *groups: str) -> Line:
    """A line that changes streams groups, which stand at a few offsets before."""
    names = groups or ("app-x",)
    return Line(
        f"--bootstrap-server {{b}} {text}",
        "streams-groups",
        offsets=dict.fromkeys(names, _THREE),
    )


_BOTH = ("app-x", "app-y")
_APP = "--reset-offsets --group app-x "
_STREAMS_CHANGING = (
    _app("--delete --group app-x"),
    _app("--delete --group app-x --group app-y", "app-x", "app-y"),
    _app("--delete --group app-x --group nobody"),
    _app("--delete --group app-x --group app-live"),
    _app("--delete --group app-x --delete-all-internal-topics"),
    _app("--delete --group app-y --delete-all-internal-topics", "app-y"),
    _app("--delete-offsets --group app-x --input-topic kind-a"),
    _app("--delete-offsets --group app-x --input-topic kind-a:0,9 --input-topic kind-b"),
    _app("--delete-offsets --group app-x --input-topic nope"),
    _app("--delete-offsets --group app-x --input-topic nope:0"),
    _app("--delete-offsets --group app-x --all-input-topics"),
    _app("--delete-offsets --group app-x --input-topic kind-a:x"),
    _app(_APP + "--input-topic kind-a:0,1 --to-earliest --dry-run"),
    _app(_APP + "--input-topic kind-a:0,1 --to-earliest --execute"),
    _app(_APP + "--input-topic kind-a --to-earliest --execute"),
    _app(_APP + "--all-input-topics --to-latest --execute"),
    _app(_APP + "--all-input-topics --to-latest --dry-run --export"),
    _app(_APP + "--group app-y --all-input-topics --to-latest --dry-run", *_BOTH),
    _app(
        _APP + "--group app-y --all-input-topics --to-latest --dry-run --export", "app-x", "app-y"
    ),
    _app(_APP + "--all-input-topics --to-current --execute"),
    _app(_APP + "--all-input-topics --to-offset 5 --execute"),
    _app(_APP + "--all-input-topics --to-offset 500 --execute"),
    _app(_APP + "--all-input-topics --shift-by 2 --execute"),
    _app(_APP + "--all-input-topics --shift-by -100 --dry-run"),
    _app(_APP + "--all-input-topics --by-duration PT1S --dry-run"),
    _app(_APP + "--all-input-topics --by-duration P9D --execute"),
    _app(_APP + "--all-input-topics --by-duration soon --execute"),
    _app(_APP + "--all-input-topics --to-datetime 2020-01-01T00:00:00.000Z --execute"),
    _app(_APP + "--input-topic kind-a:9 --to-latest --dry-run"),
    _app(_APP + "--input-topic nope --to-latest --dry-run"),
    _app(_APP + "--input-topic texts:0 --to-latest --dry-run"),
    _app(_APP + "--input-topic kind-a:x --to-latest --dry-run"),
    _app(_APP + "--from-file {f}/kind.csv --execute"),
    _app(_APP + "--from-file {f}/none.csv --execute"),
    _app(_APP + "--group app-live --all-input-topics --to-latest --dry-run"),
    _app(_APP + "--all-input-topics --to-earliest --execute --delete-all-internal-topics"),
    _app(
        _APP
        + "--all-input-topics --to-earliest --execute --delete-internal-topic app-x-store-changelog"
    ),
    _app(_APP + "--all-input-topics --to-earliest --execute --delete-internal-topic nope"),
    _app("--reset-offsets --group nobody --all-input-topics --to-latest --dry-run"),
)

_EVERY_SHARE = {**SHARE_GROUPS, "share-x": _THREE, "share-y": _THREE}
_EVERY_APP = {**STREAMS_GROUPS, **dict.fromkeys(_BOTH, _THREE)}
_ALL = (
    Line("--bootstrap-server {b} --delete --all-groups", "share-groups", offsets=_EVERY_SHARE),
    Line(
        "--bootstrap-server {b} --reset-offsets --all-groups --all-input-topics --to-earliest "
        "--dry-run",
        "streams-groups",
    ),
    Line("--bootstrap-server {b} --delete --all-groups", "streams-groups", offsets=_EVERY_APP),
)
"""Lines after which those groups are gone that have no members."""

KIND_LINES = (
    *(Line(text, "share-groups") for text in (*PARSING, *_SHARE_READING)),
    *_SHARE_CHANGING,
    *(Line(text, "streams-groups") for text in (*PARSING, *_STREAMS_READING)),
    *_STREAMS_CHANGING,
    *_ALL,
)
