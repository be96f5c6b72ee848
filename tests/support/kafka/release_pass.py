"""Every command against the brokers of one release: how it ends and what it says is missing."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from kgroups.core.protocol.tables.api_keys import Api
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.kip848_heartbeats import HeartbeatGroup
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.releases import offers, serves
from tests.support.kafka.share_groups import Sharer, configure_group
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce
from tests.support.protocol.spoken_apis import APIS
from tests.support.sandbox.frame_client import WireClient
from tests.support.streams.heartbeats import hand_member, subtopology

TOPIC: Final = "release"
CLASSIC, KIP848 = "release-classic", "release-kip848"
SHARE, STREAMS = "release-share", "release-streams"
EMPTY_SHARE: Final = tuple(f"release-share-empty-{number}" for number in range(2))
EMPTY_STREAMS: Final = tuple(f"release-streams-empty-{number}" for number in range(2))
EMPTY: Final = tuple(f"release-empty-{number}" for number in range(7))
_UNDO: Final = "--undo-dir {folder}/undo"
_LOCK: Final = "share.record.lock.duration.ms"
_TYPES: Final = {"KIP-848 group": "consumer", "share group": "share", "streams group": "streams"}

ROWS: Final[Mapping[str, str]] = {
    "list": "list -o json",
    "list --state Empty": "list release-* --state Empty -o json",
    "list --type classic": "list release-* --type classic -o json",
    "list --type consumer": "list release-* --type consumer -o json",
    "list --expiry": "list release-* --expiry -o json",
    "list --idle-for 1d": "list release-* --idle-for 1d -o json",
    "list --lag-time": "list release-* --lag-time -o json",
    "describe": f"describe {CLASSIC} {EMPTY[0]} -o json",
    "describe --verbose": f"describe {CLASSIC} --verbose -o json",
    "describe --members": f"describe {CLASSIC} --members -o json",
    "describe --isolation read_committed": f"describe {CLASSIC} --isolation read_committed -o json",
    "describe --record-times": f"describe {EMPTY[0]} --record-times -o json",
    "describe of a KIP-848 group": f"describe {KIP848} --members --offsets -o json",
    "describe --at": f"describe {EMPTY[0]} --at 0s -o json",
    "check": f"check {CLASSIC} --fail-on 'member_count > 9' -o json",
    "wait": f"wait {CLASSIC} --until 'member_count = 1' --deadline 60s -o json",
    "history": f"history {CLASSIC} {EMPTY[0]} -o json",
    "doctor": f"doctor {CLASSIC} {EMPTY[0]} --over 300ms -o json",
    "peek": f"peek {EMPTY[0]} -o json",
    "config": f"config {CLASSIC} -o json",
    "coordinator": f"coordinator {CLASSIC} -o json",
    "top": "top release-empty-* --once --every 100ms -o json",
    "transactions list": f"transactions {EMPTY[0]} -o json",
    "transactions abort": f"transactions abort {EMPTY[0]} --yes -o json",
    "plan": f"plan {CLASSIC} --add-members 1 -o json",
    "plan --leader-from-log": f"plan {CLASSIC} --leader-from-log -o json",
    "plan --to-protocol consumer": f"plan {CLASSIC} --to-protocol consumer -o json",
    "plan of a KIP-848 group": f"plan {KIP848} --add-members 1 -o json",
    "ping": "ping -o json",
    "snapshot save": "snapshot save {folder}/saved.json",
    "lag collect": "lag collect {folder}/captures",
    "--list --state": "official --list --state",
    "--list --type": "official --list --type classic",
    "--describe": f"official --describe --group {EMPTY[0]}",
    "--describe --members --verbose": (
        f"official --describe --group {CLASSIC} --members --verbose"
    ),
    "--describe --state": f"official --describe --group {CLASSIC} --state",
    "--reset-offsets": (
        f"official --reset-offsets --group {EMPTY[5]} --all-topics --to-latest --execute"
    ),
    "--delete-offsets": f"official --delete-offsets --group {EMPTY[5]} --topic {TOPIC}",
    "--delete": f"official --delete --group {EMPTY[6]}",
    "reset-offsets": f"reset-offsets {EMPTY[1]} --to latest --all-topics --yes -o json {_UNDO}",
    "reset-offsets --to TIME": (
        f"reset-offsets {EMPTY[1]} --to 2001-01-01T00:00:00Z --all-topics --yes -o json {_UNDO}"
    ),
    "reset-offsets --to committed@TIME": (
        f"reset-offsets {EMPTY[0]} --to committed@0s --yes -o json {_UNDO}"
    ),
    "reset-offsets --plan FILE": (
        f"reset-offsets {EMPTY[2]} --to latest --all-topics --dry-run --plan {{folder}}/plan.csv"
    ),
    "apply": f"apply {{folder}}/plan.csv --yes -o json {_UNDO}",
    "copy-offsets": f"copy-offsets --from {EMPTY[0]} --to release-copy --yes -o json {_UNDO}",
    "copy-offsets --match records": (
        f"copy-offsets --from {EMPTY[0]} --to release-match --match records"
        f" --to-bootstrap-server {{address}} --yes -o json {_UNDO}"
    ),
    "delete-offsets": f"delete-offsets {EMPTY[3]} --all-topics --yes -o json {_UNDO}",
    "delete-records": f"delete-records {TOPIC} --before 2 --yes -o json",
    "delete": f"delete {EMPTY[4]} --yes -o json",
    "remove-members": f"remove-members {CLASSIC} --all --yes -o json",
    "remove-members of a KIP-848 group": f"remove-members {KIP848} --all --yes -o json",
    "list --type share": "list release-* --type share -o json",
    "list --type streams": "list release-* --type streams -o json",
    "kafka-groups.sh --list": "official kafka-groups.sh --list",
    "kafka-share-groups.sh --list": "official kafka-share-groups.sh --list",
    "kafka-streams-groups.sh --list": "official kafka-streams-groups.sh --list",
    "describe of a share group": f"describe {SHARE} --members --offsets -o json",
    "describe --deliveries of a share group": f"describe {SHARE} --deliveries -o json",
    "doctor of a share group": f"doctor {SHARE} --over 300ms -o json",
    "plan of a share group": f"plan {SHARE} --add-members 1 -o json",
    "config --set of a share group": f"config {SHARE} --set {_LOCK}=40000 --yes -o json {_UNDO}",
    "kafka-share-groups.sh --describe of a share group": (
        f"official kafka-share-groups.sh --describe --group {SHARE}"
    ),
    "remove-members of a share group": f"remove-members {SHARE} --all --yes -o json",
    "reset-offsets of a share group": (
        f"reset-offsets {EMPTY_SHARE[0]} --to earliest --all-topics --yes -o json {_UNDO}"
    ),
    "delete-offsets of a share group": (
        f"delete-offsets {EMPTY_SHARE[0]} --topic {TOPIC} --yes -o json {_UNDO}"
    ),
    "delete of a share group": f"delete {EMPTY_SHARE[1]} --yes -o json",
    "describe of a streams group": f"describe {STREAMS} --members --offsets -o json",
    "describe --tasks of a streams group": f"describe {STREAMS} --tasks --verbose -o json",
    "doctor of a streams group": f"doctor {STREAMS} --over 300ms -o json",
    "plan of a streams group": f"plan {STREAMS} --add-members 1 -o json",
    "config --set of a streams group": (
        f"config {STREAMS} --set streams.num.standby.replicas=1 --yes -o json {_UNDO}"
    ),
    "kafka-streams-groups.sh --describe of a streams group": (
        f"official kafka-streams-groups.sh --describe --group {STREAMS}"
    ),
    "remove-members of a streams group": f"remove-members {STREAMS} --all --yes -o json",
    "reset-offsets of a streams group": (
        f"reset-offsets {EMPTY_STREAMS[0]} --to latest --topic {TOPIC} --yes -o json {_UNDO}"
    ),
    "delete-offsets of a streams group": (
        f"delete-offsets {EMPTY_STREAMS[0]} --all-topics --yes -o json {_UNDO}"
    ),
    "delete of a streams group": f"delete {EMPTY_STREAMS[1]} --yes -o json",
}
"""What a row of the table is called, and the line that is run for it; in this order."""


def has_row(release: str, row: str) -> bool:
    """Whether a release has groups of the type that a row is about."""
    of = row.partition(" of a ")[2]
    return of not in _TYPES or serves(release, _TYPES[of])


def observed(address: str, release: str, folder: Path) -> dict[str, Any]:
    """What the brokers of a release offer, and how every command ended."""
    create_topics(address, {TOPIC: 2})
    produce(address, {(TOPIC, 0): 10, (TOPIC, 1): 10})
    commit_offsets(address, {name: {(TOPIC, 0): 4, (TOPIC, 1): 4} for name in EMPTY})
    with ExitStack() as members:
        classic = members.enter_context(
            LiveGroup(address, CLASSIC, [MemberSpec("classic-one", (TOPIC,))])
        )
        classic.wait_stable(2)
        if serves(release, "consumer"):
            version = int(offers(release, "4.0"))
            beating = HeartbeatGroup(
                address, KIP848, [TOPIC], 1, client_id="kip848", version=version
            )
            members.callback(_leave, beating)
            beating.join(2)
        if serves(release, "share"):
            members.enter_context(_sharing(address))
        beat = members.enter_context(_streaming(address)) if serves(release, "streams") else _rest
        return {"apis": _apis(address), "rows": _rows(address, release, folder, beat)}


def _leave(beating: HeartbeatGroup) -> None:
    with suppress(RuntimeError):  # a member that was removed is told so
        beating.close()


@contextmanager
def _sharing(address: str) -> Iterator[None]:
    """A share group with a member, and those that have none any more."""
    for name in EMPTY_SHARE:
        configure_group(address, name, {"share.auto.offset.reset": "earliest"})
        with Sharer(address, name, TOPIC) as member:
            member.take(20)
    with Sharer(address, SHARE, TOPIC):
        joined = run("wait", SHARE, "--until", "stable", "--deadline", "60s", "-b", address)
        assert joined.exit_code == 0, joined.stderr
        yield


@contextmanager
def _streaming(address: str) -> Iterator[Callable[[], object]]:
    """A streams group with a member, and what keeps it there; and groups that have none."""
    parts = [subtopology("0", [TOPIC])]
    for name in EMPTY_STREAMS:
        with hand_member(address, name, parts) as member:
            member.beat()
        commit_offsets(address, {name: {(TOPIC, 0): 4}})
    with hand_member(address, STREAMS, parts) as member:
        wait_until(lambda: member.beat() is not None and bool(member.active), "it has tasks")
        yield member.beat


def _rest() -> None:
    """No member has to be kept in its group."""


def _apis(address: str) -> dict[str, list[int]]:
    """Lowest and highest version that a broker offers of what we ask for."""
    names = {api.key: name for name, api in APIS.items()}
    with WireClient(address) as client:
        answer = client.ask(Api.API_VERSIONS, 0, {})
    offered = {
        names[row["api_key"]]: [row["min_version"], row["max_version"]]
        for row in answer["api_keys"]
        if row["api_key"] in names
    }
    return dict(sorted(offered.items()))


def _rows(
    address: str, release: str, folder: Path, beat: Callable[[], object]
) -> dict[str, dict[str, Any]]:
    (folder / "undo").mkdir()
    found = {}
    for row, line in ROWS.items():
        if not has_row(release, row):
            continue
        beat()
        words = shlex.split(line.format(folder=folder, address=address))
        if words[0] == "official":
            words += ["--bootstrap-server", address]
        else:
            words += ["-b", address, "--timeout", "60s"]
        variables = {"KGROUPS_UNDO_DIR": str(folder / "undo")}
        outcome = run(*words, env=variables)
        found[row] = {"exit": outcome.exit_code, "said": said(outcome)}
    return found


def said(outcome: Outcome) -> list[str]:
    """What does not work, in the command's own words, without what differs from run to run."""
    texts = [line.removeprefix("error: ") for line in outcome.stderr.splitlines() if _TELLS(line)]
    if outcome.stdout.startswith('{"schema":'):
        document = outcome.document
        for item in document["items"]:
            texts += [each["message"] for each in item.get("blockers", ())]
            if document["schema"].startswith("kgroups.ping/"):
                texts += _of_step(item)
        texts += [each["message"] for each in document["errors"]]
    told = {_ADDRESS.sub("BROKER", text) for text in texts}
    return sorted(text for text in told if not any(each.endswith(f": {text}") for each in told))


def _of_step(step: Mapping[str, Any]) -> list[str]:
    """Of a step of `ping`: what the broker lacks."""
    if step["step"] == "API versions":
        return str(step["detail"]).split("; ")[1:]
    if step["step"] == "clock" and step["status"] == "skipped":
        return [step["detail"]]
    return []


_ADDRESS: Final = re.compile(r"127\.0\.0\.1:\d+")
_TELLS: Final = re.compile(r"(error|warning): ").match
