"""Command lines that both tools are given, and what is put in order before each of them."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from kgroups.core.snapshot import GroupType
from tests.support.kafka.official_tools import Tool
from tests.support.kafka.workload import Offsets


@dataclass(frozen=True)
class Line:
    """One command line.

    Args:
        text: as typed; `{b}` is the cluster's address, `{f}` the folder of the files.
        tool: which of Kafka's tools.
        unknown: groups on the line that the official tool stumbles over.
        offsets: commits to make before each tool runs, in groups that are deleted first.
    """

    text: str
    tool: Tool = "consumer-groups"
    unknown: tuple[str, ...] = ()
    offsets: Mapping[str, Offsets] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The line with the tool's name before it where that is not the usual one."""
        return self.text if self.tool == "consumer-groups" else f"{self.tool} {self.text}"

    @property
    def kind(self) -> GroupType | None:
        """Of the groups that a tool is about which are not consumers'."""
        kinds: dict[str, GroupType] = {"share-groups": "share", "streams-groups": "streams"}
        return kinds.get(self.tool)

    @property
    def start(self) -> list[str]:
        """What our own line begins with."""
        if self.kind is not None:
            return ["official", f"kafka-{self.tool}.sh"]
        return ["official"] if self.tool == "consumer-groups" else ["official", "delete-records"]

    def arguments(self, bootstrap: str, folder: str) -> list[str]:
        """The words of the line."""
        return [
            word.replace("{b}", bootstrap).replace("{f}", folder) for word in shlex.split(self.text)
        ]


NO_BROKER_NEEDED = (
    # the parser's errors
    "--list --bogus",
    "--list -x",
    "--list -desc",
    "--list --desc",
    "--bootstrap-server",
    "--bootstrap-server {b} --list --group",
    "--bootstrap-server {b} --list --verbose",
    "--bootstrap-server {b} --list --members --offsets --verbose",
    "--bootstrap-server {b} --delete --state",
    "--bootstrap-server {b} --describe --all-groups --type",
    "--bootstrap-server {b} --list --new-consumer",
    "--bootstrap-server {b} --list --help --bogus",
    "--delete --topic",
    # what does not fit together, in the order of checking
    "--list",
    "--describe",
    "--bootstrap-server {b}",
    "--bootstrap-server {b} --group g",
    "--bootstrap-server {b} --describe",
    "--bootstrap-server {b} --describe --group g --members --state",
    "--bootstrap-server {b} --describe --group g --members --offsets --state",
    "--bootstrap-server {b} --describe --group g --state Stable",
    "--bootstrap-server {b} --describe --group g --state Stable --state Empty",
    "--bootstrap-server {b} --describe --group g --topic t",
    "--bootstrap-server {b} --describe --group g --all-groups",
    "--bootstrap-server {b} --delete",
    "--bootstrap-server {b} --delete --group g --topic t",
    "--bootstrap-server {b} --delete-offsets",
    "--bootstrap-server {b} --delete-offsets --group g",
    "--bootstrap-server {b} --delete-offsets --topic t",
    "--bootstrap-server {b} --delete-offsets --group g --all-groups --topic t",
    "--bootstrap-server {b} --reset-offsets --to-earliest --dry-run",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --execute",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --to-earliest --to-latest",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --shift-by 1 --to-offset 2",
    "--bootstrap-server {b} --reset-offsets --group g --dry-run --from-file f --by-duration P1D",
    "--bootstrap-server {b} --reset-offsets --group g --all-groups --dry-run --to-current",
    "--bootstrap-server {b} --list --group g",
    "--bootstrap-server {b} --list --topic t",
    "--bootstrap-server {b} --list --describe --group g",
    "--bootstrap-server {b} --list --delete --all-groups",
    "--bootstrap-server {b} --list --validate-regex a",
    "--validate-regex a --validate-regex b",
    # help and version
    "--help",
    "--list --help --verbose",
    "--version",
    "--bootstrap-server {b} --list --version",
    # patterns
    "--validate-regex 'foo.*'",
    "--validate-regex ''",
    "--validate-regex=a+",
    "--validate-regex '[foo.*'",
    "--validate-regex '(foo'",
    "--validate-regex 'foo)'",
    "--validate-regex '*foo'",
    "--validate-regex '(?=foo)'",
    r"--validate-regex '(a)\1'",
    "--validate-regex 'a**' --group g --topic t",
    "--validate-regex 'a{2,1}'",
    "--validate-regex '[z-a]'",
    r"--validate-regex '\C'",
    "--validate-regex '\\'",
    "--validate-regex '(?P<n'",
    "--validate-regex '(?P<n>a)(?P<n>b)'",
)

READING = (
    "--bootstrap-server {b} --list",
    "--bootstrap-server={b} -list",
    "--list --bootstrap-server {b} a stray word --timeout 9000",
    "--bootstrap-server {b} --list --all-groups --all-topics --dry-run --execute --export",
    "--bootstrap-server {b} --list=ignored -- --describe",
    "--bootstrap-server {b} --list --state",
    "--bootstrap-server {b} --list --type",
    "--bootstrap-server {b} --list --type --state",
    "--bootstrap-server {b} --list --state --type",
    "--bootstrap-server {b} --list --state stable",
    "--bootstrap-server {b} --list --state 'STABLE, empty,'",
    "--bootstrap-server {b} --list --state ,",
    "--bootstrap-server {b} --list --state=",
    "--bootstrap-server {b} --list --state Dead",
    "--bootstrap-server {b} --list --state PreparingRebalance,CompletingRebalance,Reconciling",
    "--bootstrap-server {b} --list --type consumer",
    "--bootstrap-server {b} --list --type Classic,CONSUMER --state Stable",
    "--bootstrap-server {b} --list --state bogus",
    "--bootstrap-server {b} --list --state '  ,  ,'",
    "--bootstrap-server {b} --list --type share",
    "--bootstrap-server {b} --list --type ', classic'",
    "--bootstrap-server {b} --list --state Stable --state Empty",
    "--bootstrap-server {b} --list --timeout abc",
    "--bootstrap-server {b} --list --timeout 0",
    "--bootstrap-server {b} --bootstrap-server {b} --list",
    "--bootstrap-server nowhere --list",
    "--bootstrap-server 127.0.0.1:1 --list --timeout 300",
    "--bootstrap-server 127.0.0.1:1 --list --state --timeout 300",
    "--bootstrap-server 127.0.0.1:1 --describe --group g --timeout 300",
    "--bootstrap-server 127.0.0.1:1 --describe --all-groups --timeout 300",
    "--bootstrap-server {b} --list --command-config {f}/missing.properties",
    "--bootstrap-server {b} --list --command-config {f}/client.properties",
    "--bootstrap-server 127.0.0.1:1,{b} --list",
    # describe
    "--bootstrap-server {b} --describe --all-groups",
    "--bootstrap-server {b} --describe --all-groups --offsets --verbose",
    "--bootstrap-server {b} --describe --all-groups --members",
    "--bootstrap-server {b} --describe --all-groups --members --verbose",
    "--bootstrap-server {b} --describe --all-groups --state",
    "--bootstrap-server {b} --describe --all-groups --state --verbose",
    "--bootstrap-server {b} --describe --group empty-odd",
    "--bootstrap-server {b} --describe --group with-epochs --verbose",
    "--bootstrap-server {b} --describe --group live-classic --group live-kip848",
    "--bootstrap-server {b} --describe --group live-kip848 --group with-epochs --group live-kip848",
    "--bootstrap-server {b} --describe --group live-robin --state --verbose",
    "--bootstrap-server {b} --describe --group live-static --members",
    "--bootstrap-server {b} --describe --group live-static --members --verbose",
    "--bootstrap-server {b} --describe --group live-kip848-range --members --verbose",
    "--bootstrap-server {b} --describe --group mixed-protocols --members --verbose",
    "--bootstrap-server {b} --describe --group mixed-protocols --members",
    "--bootstrap-server {b} --describe --group stuck-preparing --group stuck-completing",
    "--bootstrap-server {b} --describe --group stuck-preparing --members --verbose",
    "--bootstrap-server {b} --describe --group stuck-completing --members --verbose",
    "--bootstrap-server {b} --describe --group stuck-reconciling --verbose",
    "--bootstrap-server {b} --describe --group stuck-reconciling --members --verbose",
    "--bootstrap-server {b} --describe --group stuck-reconciling --state --verbose",
    "--bootstrap-server {b} --describe --group --group",
    "--bootstrap-server {b} --describe --group グループ --group party-🎉",
    "--bootstrap-server {b} --describe --group 'quo\"te' --group 'has space' --state",
    "-describe -bootstrap-server={b} -group=percent%s",
    "--bootstrap-server {b} --describe --group empty-odd --timeout abc",
)

_FAILING = (
    Line("--bootstrap-server {b} --describe --group nobody", unknown=("nobody",)),
    Line("--bootstrap-server {b} --describe --group nobody --members", unknown=("nobody",)),
    Line("--bootstrap-server {b} --describe --group nobody --state", unknown=("nobody",)),
    Line("--bootstrap-server {b} --describe --group nobody --offsets --verbose"),
    Line("--bootstrap-server {b} --describe --group ''"),
    Line("--bootstrap-server {b} --describe --group share-readers"),
    Line("--bootstrap-server {b} --describe --group connect-workers"),
    Line(
        "--bootstrap-server {b} --describe --group nobody --group empty-odd --group live-static",
        unknown=("nobody",),
    ),
    Line(
        "--bootstrap-server {b} --describe --state --group empty-odd --group share-readers",
        unknown=("share-readers",),
    ),
)


def _seeded(text: str, *groups: str) -> Line:
    """A line before which these groups have a commit."""
    return Line(text, offsets={group: {("audit", 0): 1} for group in groups})


_DELETING = (
    _seeded("--bootstrap-server {b} --delete --group del-a", "del-a"),
    _seeded(
        "--bootstrap-server {b} --delete --group del-a --group del-b --group del-a",
        "del-a",
        "del-b",
    ),
    _seeded("--bootstrap-server {b} --delete --group del-a --execute", "del-a"),
    _seeded("--bootstrap-server {b} --delete --group del-a --dry-run", "del-a"),
    _seeded("--bootstrap-server {b} --delete --group 'del quo\"te'", 'del quo"te'),
    Line("--bootstrap-server {b} --delete --group nobody"),
    Line("--bootstrap-server {b} --delete --group ''"),
    Line("--bootstrap-server {b} --delete --group live-classic"),
    Line("--bootstrap-server {b} --delete --group live-kip848"),
    Line("--bootstrap-server {b} --delete --group share-readers"),
    Line("--bootstrap-server {b} --delete --group connect-workers"),
    Line("--bootstrap-server {b} --delete --group stuck-preparing"),
    Line("--bootstrap-server {b} --delete --group g --timeout abc"),
    Line("--bootstrap-server 127.0.0.1:1 --delete --group g --timeout 300"),
    Line("--bootstrap-server 127.0.0.1:1 --delete --all-groups --timeout 300"),
    _seeded("--bootstrap-server {b} --delete --group nobody --group del-a", "del-a"),
    _seeded(
        "--bootstrap-server {b} --delete --group live-static --group del-a --group nobody"
        " --group del-b",
        "del-a",
        "del-b",
    ),
)

_FIVE = {("reset-a", 0): 40, ("reset-a", 1): 41, ("reset-b", 0): 7}


def _reset(options: str, *groups: str, at: str = "--dry-run") -> Line:
    """A reset of groups that stand at offsets of `reset-a` and `reset-b`."""
    names = groups or ("res-a",)
    selected = " ".join(f"--group {shlex.quote(name)}" for name in names)
    return Line(
        f"--bootstrap-server {{b}} --reset-offsets {selected} {at} {options}",
        offsets=dict.fromkeys(names, _FIVE),
    )


_RESETTING = (
    _reset("--all-topics --to-earliest"),
    _reset("--all-topics --to-latest"),
    _reset("--all-topics --to-current", at="--execute"),
    _reset("--topic reset-a --to-latest", at="--execute"),
    _reset("--topic reset-a:0,1 --to-offset 50", at="--execute"),
    _reset("--topic reset-a:1 --topic reset-b:0 --to-offset 1"),
    _reset("--topic reset-a:1, --topic reset-b --to-earliest", at="--execute"),
    _reset("--all-topics --to-offset 5000"),
    _reset("--all-topics --to-offset -5"),
    _reset("--all-topics --to-offset abc"),
    _reset("--all-topics --shift-by 30"),
    _reset("--all-topics --shift-by -30", at="--execute"),
    _reset("--all-topics --shift-by=-300"),
    _reset("--all-topics --shift-by 300"),
    _reset("--topic reset-b --shift-by 1"),
    _reset("--all-topics --by-duration PT1H"),
    _reset("--all-topics --by-duration p1dt1h"),
    _reset("--all-topics --by-duration P1W"),
    _reset("--all-topics --by-duration -PT1H"),
    _reset("--all-topics --by-duration P40000D"),
    _reset("--topic no-records --by-duration PT1H"),
    _reset("--all-topics --to-datetime 2020-01-01T00:00:00.000"),
    _reset("--all-topics --to-datetime 2020-01-01T00:00:00.000Z"),
    _reset("--all-topics --to-datetime 2020-01-01T00:00:00.000+05:30"),
    _reset("--all-topics --to-datetime 2033-01-01T00:00:00.000"),
    _reset("--all-topics --to-datetime 1960-01-01T00:00:00.000"),
    _reset("--all-topics --to-datetime 2020-01-01"),
    _reset("--all-topics --to-datetime 2020-13-01T00:00:00.000"),
    _reset("--all-topics --to-datetime 2020-01-01T00:00:00"),
    _reset("--all-topics --to-earliest", at=""),
    _reset("--all-topics --to-earliest --export"),
    _reset("--all-topics --to-earliest --export", "res-a", "res-b"),
    _reset("--topic a.very.long.topic.name_that-needs.quotes-in-csv --to-latest --export"),
    _reset("--all-topics --to-latest --export", "comma,name", 'quo"name', "res ba", "-res"),
    _reset("--all-topics --to-latest", "res-a", "res-b", at="--execute"),
    _reset("--all-topics --topic audit --to-latest"),
    _reset("--to-latest"),
    _reset("--all-topics"),
    _reset("--topic reset-a: --to-latest"),
    _reset("--topic reset-a:0:1 --to-latest"),
    _reset("--topic reset-a:x --to-latest"),
    _reset("--topic reset-a:0,,1 --to-latest"),
    _reset("--topic reset-a:77,78 --to-latest"),
    _reset("--topic nope --to-latest"),
    _reset("--topic nope:0 --to-latest"),
    _reset("--topic a,b --to-latest"),
    _reset("--topic reset-b --topic reset-b:0 --to-latest"),
    _reset("--from-file {f}/three.csv", at="--execute"),
    _reset("--from-file {f}/four.csv", "res-a", "res-b"),
    _reset("--from-file {f}/four.csv"),
    _reset("--from-file {f}/three.csv", "res-a", "res-b"),
    _reset("--from-file {f}/two.csv"),
    _reset("--from-file {f}/five.csv"),
    _reset("--from-file {f}/header.csv"),
    _reset("--from-file {f}/negative.csv"),
    _reset("--from-file {f}/empty.csv"),
    _reset("--from-file {f}/nobody.csv", "res-a", "res-b"),
    _reset("--from-file {f}/windows.csv"),
    _reset("--from-file {f}/missing.csv"),
    _reset("--from-file {f}/nope.csv"),
)

_RESET = "--bootstrap-server {b} --reset-offsets "
_RESETTING_OTHERS = (
    _RESET + "--group nobody --all-topics --to-latest --dry-run",
    "--bootstrap-server 127.0.0.1:1 --timeout 300 --reset-offsets --group g --topic t --to-latest "
    "--dry-run",
    _RESET + "--group nobody --topic reset-b --to-latest --dry-run",
    _RESET + "--group live-classic --all-topics --to-latest --execute",
    _RESET + "--group live-kip848 --dry-run",
    _RESET + "--group stuck-preparing --all-topics --to-latest --execute",
    _RESET + "--group live-static --group empty-odd --topic audit --to-latest --dry-run",
    _RESET + "--group connect-workers --all-topics --to-latest --dry-run",
    _RESET + "--group share-readers --topic reset-b --to-latest --dry-run",
    _RESET + "--all-groups --topic reset-b:1 --to-latest --dry-run",
    _RESET + "--all-groups --topic reset-b:1 --to-latest --dry-run --export",
)


def _forget(options: str) -> Line:
    """Offsets of `res-a` deleted."""
    return Line(
        f"--bootstrap-server {{b}} --delete-offsets --group res-a {options}",
        offsets={"res-a": {**_FIVE, ("reset-a", 9): 3}},
    )


_NOBODY = "--bootstrap-server 127.0.0.1:1 --timeout 300 "
_FORGET = "--bootstrap-server {b} --delete-offsets "
_FORGETTING = (
    _forget("--topic reset-a:0"),
    _forget("--topic reset-a"),
    _forget("--topic reset-a:9,1 --topic reset-b"),
    _forget("--topic reset-a:0,77"),
    _forget("--topic nope"),
    _forget("--topic nope:0"),
    _forget("--topic nope --topic reset-b --topic a.very.long.topic.name_that-needs.quotes-in-csv"),
    _forget("--topic reset-a:"),
    _forget("--topic reset-a:x"),
    _forget("--group other --topic reset-a"),
    Line(_FORGET + "--group nobody --topic reset-a:0"),
    Line(_FORGET + "--group '' --topic reset-a:0"),
    Line(_FORGET + "--group live-classic --topic orders:0"),
    Line(_FORGET + "--group live-classic --topic orders"),
    Line(_FORGET + "--group live-kip848 --topic orders:3 --topic nope:0"),
    Line(_FORGET + "--group live-kip848 --topic nope"),
    Line(_FORGET + "--group share-readers --topic audit:0"),
    Line(_FORGET + "--group connect-workers --topic audit"),
    Line(_FORGET + "--group stuck-preparing --topic audit"),
    Line(_NOBODY + "--delete-offsets --group g --topic t:0 --topic u"),
)

_RECORDS = (
    "--bootstrap-server {b} --offset-json-file {f}/records.json",
    "--bootstrap-server {b} --offset-json-file {f}/records-bad.json",
    "--bootstrap-server {b} --offset-json-file {f}/records-none.json",
    "--bootstrap-server {b} --offset-json-file {f}/records-twice.json",
    "--bootstrap-server {b} --offset-json-file {f}/three.csv",
    "--bootstrap-server {b} --offset-json-file {f}/list.json",
    "--bootstrap-server {b} --offset-json-file {f}/text-version.json",
    "--bootstrap-server {b} --offset-json-file {f}/version.json",
    "--bootstrap-server {b} --offset-json-file {f}/no-partitions.json",
    "--bootstrap-server {b} --offset-json-file {f}/number.json",
    "--bootstrap-server {b} --offset-json-file {f}/no-offset.json",
    "--bootstrap-server {b} --offset-json-file {f}/text-offset.json",
    "--bootstrap-server {b} --offset-json-file {f}/internal.json",
    "--bootstrap-server {b} --offset-json-file {f}/missing.json",
    "--bootstrap-server {b} --offset-json-file {f}/missing.json --command-config {f}/missing",
    "--bootstrap-server {b}",
    "--offset-json-file {f}/records.json",
    "--bootstrap-server {b} --offset-json-file",
    "--bogus",
    "--help",
    "--version",
)

LINES = (
    *map(Line, NO_BROKER_NEEDED),
    *map(Line, READING),
    *_FAILING,
    *_DELETING,
    *_RESETTING,
    *map(Line, _RESETTING_OTHERS),
    *_FORGETTING,
    *(Line(text, "delete-records") for text in _RECORDS),
)
