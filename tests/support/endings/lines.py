"""A line for each command, with what a test has to know about it.

Between braces stands what the world puts there for a case: `{group}` and `{other}`, two groups that
nobody else uses, `{topic}` likewise, `{folder}` for files, `{undo}` an undo file, `{plan}` a saved
plan; `{alive}`, a group with a live member, `{origin}`, one that has committed, and `{steps}`, the
topic of both.
"""

from dataclasses import dataclass
from typing import Final, Literal

Grammar = Literal["own", "official"]
Writes = Literal["offsets", "groups", "records", "members"]


@dataclass(frozen=True)
class Line:
    """One command line.

    Args:
        words: as a shell reads them; address, timeout and client configuration are added.
        of: the command or official action that it stands for.
        asks: whether it asks a cluster.
        writes: what it changes in the cluster.
        given: `reset`: the groups were reset before, with an undo file; `half`: and one of them
            was put back; `saved`: a plan to reset them was saved.
        kind: `server` and `watch` do not end by themselves, `heavy` starts Spark or a cluster.
        silent: whether it has nothing for stdout.
        at_best: whether it prints what it can learn quickly, and ends with 0 in any case.
        timeout: how it is told how long to wait for a cluster: by its option, or by
            `default.api.timeout.ms`.
        deadline_ms: how long it asks a cluster that is away again and again.
    """

    words: str
    of: str
    asks: bool = True
    writes: Writes | None = None
    given: Literal["", "reset", "half", "saved"] = ""
    kind: Literal["", "server", "watch", "heavy"] = ""
    silent: bool = False
    at_best: bool = False
    timeout: Literal["option", "property"] = "option"
    deadline_ms: int = 0

    @property
    def grammar(self) -> Grammar:
        """In which it is written."""
        return "official" if self.of == "official" or self.of.startswith("--") else "own"


RESET: Final = "reset-offsets {group} {other} --to earliest --all-topics --yes -o json"
LINES: Final = {
    "the help": Line("--help", "", asks=False),
    "list": Line("list -o json", "list"),
    "list as a table": Line("list", "list"),
    "list and watch": Line("list --watch 3600 -o json", "list", kind="watch"),
    "describe": Line("describe --all-groups -o json", "describe"),
    "describe as csv": Line("describe {origin} -o csv", "describe"),
    "describe times": Line("describe origin --lag-time --over 100ms -o json", "describe"),
    "describe members": Line("describe {alive} --members -o yaml", "describe"),
    "describe a file": Line("describe --all-groups --from {folder}/shop.json", "describe", False),
    "check": Line("check {origin} {alive} --fail-on 'member_count > 9' -o json", "check"),
    "check as a table": Line(
        "check {origin} --fail-on 'lag < 0 or lost > 0'", "check", silent=True
    ),
    "check as junit": Line("check --all-groups --fail-on 'member_count > 9' -o junit", "check"),
    "wait": Line(
        "wait {alive} --until 'member_count = 1' --deadline 2s -o json", "wait", deadline_ms=2_000
    ),
    "doctor": Line("doctor {origin} {alive} -o json", "doctor"),
    "peek": Line("peek {origin} -o json", "peek"),
    "history": Line("history {origin} {alive} -o json", "history"),
    "coordinator": Line("coordinator {group} {other}", "coordinator"),
    "plan": Line("plan {alive} --add-members 1 -o json", "plan"),
    "plan on paper": Line("plan --from {folder}/scenario.yaml --all-groups", "plan", False),
    "simulate": Line("simulate {folder}/deploy.yaml -o json", "simulate", False),
    "reset-offsets": Line(RESET + " --undo-dir {folder}/undo", "reset-offsets", writes="offsets"),
    "reset-offsets in words": Line(
        "reset-offsets {group} {other} --to earliest --all-topics --yes --undo-dir {folder}/undo",
        "reset-offsets",
        writes="offsets",
    ),
    "reset-offsets between a wait and a watch": Line(
        RESET + " --wait-empty 10ms --watch-after 10ms --undo-dir {folder}/undo",
        "reset-offsets",
        writes="offsets",
    ),
    "reset-offsets --undo": Line(
        "reset-offsets --undo {undo} --yes -o json --undo-dir {folder}/undo",
        "reset-offsets",
        writes="offsets",
        given="reset",
    ),
    "reset-offsets --resume": Line(
        "reset-offsets --resume {undo} --yes -o json --undo-dir {folder}/undo",
        "reset-offsets",
        writes="offsets",
        given="half",
    ),
    "copy-offsets": Line(
        "copy-offsets --from {origin} --to {group} --yes -o json --undo-dir {folder}/undo",
        "copy-offsets",
        writes="offsets",
    ),
    "delete-offsets": Line(
        "delete-offsets {group} {other} --all-topics --yes -o json --undo-dir {folder}/undo",
        "delete-offsets",
        writes="offsets",
    ),
    "delete": Line("delete {group} {other} --yes -o json", "delete", writes="groups"),
    "delete-records": Line(
        "delete-records {topic} --before 5 --yes -o json", "delete-records", writes="records"
    ),
    "remove-members": Line(
        "remove-members {group} --all --yes -o json", "remove-members", writes="members"
    ),
    "config": Line("config {group} -o json", "config"),
    "apply": Line(
        "apply {plan} --yes -o json --undo-dir {folder}/undo",
        "apply",
        writes="offsets",
        given="saved",
    ),
    "top": Line("top --once --every 100ms -o json", "top"),
    "transactions": Line("transactions {origin} -o json", "transactions list"),
    "transactions abort": Line("transactions abort {origin} --yes -o json", "transactions abort"),
    "context list": Line("context list -o json", "context list", asks=False),
    "context show": Line("context show here -o json", "context show", asks=False),
    "context use": Line("context use spare", "context use", asks=False, silent=True),
    "context add": Line(
        "context add third -b localhost:1 --use", "context add", asks=False, silent=True
    ),
    "context remove": Line("context remove spare", "context remove", asks=False, silent=True),
    "context import": Line(
        "context import {folder}/client.properties --name fourth",
        "context import",
        asks=False,
        silent=True,
    ),
    "context current": Line("context current -c here", "context current", asks=False),
    "ping": Line("ping -o json", "ping"),
    "ping as a table": Line("ping", "ping"),
    "audit": Line("audit -o json", "audit", asks=False),
    "demo": Line("demo", "demo", asks=False, kind="heavy"),
    "completion": Line("completion bash", "completion", asks=False),
    "schema": Line("schema describe", "schema", asks=False),
    "explain": Line("explain STALL -o json", "explain", asks=False),
    "names for a shell": Line('complete-names groups "kgroups describe "', "", at_best=True),
    "snapshot save": Line("snapshot save {folder}/saved.json", "snapshot save", silent=True),
    "snapshot show": Line("snapshot show {folder}/shop.json", "snapshot show", asks=False),
    "lag report": Line("lag report -o json", "lag report", kind="heavy"),
    "lag history": Line("lag history -o json", "lag history", kind="heavy"),
    "lag collect": Line("lag collect {folder}/captures", "lag collect"),
    "lag compact": Line("lag compact {folder}/small --today", "lag compact", asks=False),
    "sandbox up": Line(
        "sandbox up --topic t=2 --port {port}", "sandbox up", asks=False, kind="server"
    ),
    "official help": Line("official --help", "official", asks=False),
    "--list": Line("--list", "--list"),
    "--describe": Line("--describe --all-groups", "--describe"),
    "--describe --members": Line("--describe --group {alive} --members", "--describe"),
    "--delete": Line("--delete --group {group} --group {other}", "--delete", writes="groups"),
    "--delete-offsets": Line(
        "--delete-offsets --group {group} --topic {steps}", "--delete-offsets", writes="offsets"
    ),
    "--reset-offsets": Line(
        "--reset-offsets --group {group} --group {other} --all-topics --to-earliest --execute",
        "--reset-offsets",
        writes="offsets",
    ),
    "--validate-regex": Line("--validate-regex a.*", "--validate-regex", asks=False),
    "official delete-records": Line(
        "official delete-records --offset-json-file {folder}/offsets.json",
        "official",
        writes="records",
        timeout="property",
    ),
}
