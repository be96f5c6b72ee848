"""The changes of a script: how each is said to a plan, and how it is made."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.writes.member_removal import remove_members
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Deploy,
    Expire,
    Pattern,
    RemoveMember,
    Restart,
    RollingRestart,
    SetPartitions,
    Subscribe,
    SwitchClient,
)
from kgroups.core.snapshot import ClusterSnapshot, Group
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.hosts.process import HostFailed
from tests.support.fidelity.judging import name_of
from tests.support.fidelity.libraries import TRAITS
from tests.support.fidelity.resting import Rest
from tests.support.fidelity.scripts import Kind, Step, switched
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of, create_topics


@dataclass
class Maker:
    """Makes changes to one group."""

    admin: ClusterAdmin
    bootstrap: str
    driven: DrivenGroup
    rest: Rest

    def changes(self, step: Step) -> list[Change | Deploy]:
        """All that is said to a plan."""
        planned = self._planned(step)
        return planned if isinstance(planned[0], Deploy) else [*self._said(), *planned]

    def make(self, step: Step, before: ClusterSnapshot) -> set[str]:
        """Make the change; gives back the names of members that have another id then."""
        return DOING[step.kind](self, step, before)

    def _said(self) -> list[Change]:
        """The patterns of members, which those of the classic protocol do not show."""
        if self.driven.protocol == "consumer":
            return []
        return [
            Pattern(spec.pattern, TRAITS[spec.library].dialect, spec.called)
            for spec in self.driven.members.values()
            if spec.pattern
        ]

    def _planned(self, step: Step) -> list[Change | Deploy]:
        """The change, as it is said to a plan before it happens."""
        names = [self.driven.members[name].called for name in step.names]
        name = names[0] if names else ""
        match step.kind:
            case "join" | "join of several" | "static join":
                return [self._joins(spec) for spec in step.joins]
            case "leave" | "leave of several" | "crash" | "crash of several" | "removal":
                return [RemoveMember(name) for name in names]
            case "restart" | "static restart":
                return [Restart(name)]
            case "static expiry":
                return [Expire(name)]
            case "rolling restart":
                return [RollingRestart()]
            case "switch of library":
                return [SwitchClient(step.library)]
            case "partitions":
                return [SetPartitions(step.topic, step.count)]
            case "new topic":
                return [AddTopic(step.topic, step.count)]
            case "subscription":
                return [Subscribe(step.topics, member=name) for name in names]

    def _joins(self, spec: MemberSpec) -> AddMembers:
        server = self.driven.protocol == "consumer"
        dialect = "re2" if server else TRAITS[spec.library].dialect
        return AddMembers(
            client_id=None if spec.unnamed else spec.name,
            rack=spec.rack or None,
            instance_id=spec.instance or None,
            topics=spec.topics or None,
            library=spec.library,
            pattern=Pattern(spec.pattern, dialect) if spec.pattern else None,
            protocol=self.driven.protocol,
        )

    # What is done: each returns the names of members that have another id then.

    def join(self, step: Step, _: ClusterSnapshot) -> set[str]:
        self.driven.join(step.joins)
        return {spec.name for spec in step.joins}

    def leave(self, step: Step, _: ClusterSnapshot) -> set[str]:
        self.driven.leave(step.names)
        return set()

    def crash(self, step: Step, _: ClusterSnapshot) -> set[str]:
        for name in step.names:
            self.driven.crash(name)
        return set()

    def remove(self, step: Step, before: ClusterSnapshot) -> set[str]:
        self.driven.leave(step.names)
        members = [m for m in before.groups[0].members or () if name_of(m) in step.names]
        errors = remove_members(self.admin, self.driven.group, members, "planned")
        failed = [error for error in errors.values() if error is not None]
        if failed:
            raise HostFailed(f"removal: {failed}")
        return set()

    def restart(self, step: Step, before: ClusterSnapshot) -> set[str]:
        """Each member goes and comes back; dynamic ones are waited for in between."""
        names = step.names or tuple(_rolled(before.groups[0]))
        for name in names:
            spec = self.driven.members[name]
            if step.kind == "switch of library":
                spec = switched(spec, step.library)
            self.driven.leave([name])
            if step.kind == "static expiry" or (not spec.instance and self.driven.members):
                self.rest.settled()
            self.driven.join([spec])
            self.rest.settled()
        return set(names)

    def grow(self, step: Step, _: ClusterSnapshot) -> set[str]:
        grow_topic(self.bootstrap, step.topic, step.count)
        self.driven.topics[step.topic] = step.count
        return set()

    def create(self, step: Step, _: ClusterSnapshot) -> set[str]:
        create_topics(self.bootstrap, {step.topic: step.count})
        self.driven.topics[step.topic] = step.count
        return set()

    def subscribe(self, step: Step, _: ClusterSnapshot) -> set[str]:
        self.driven.subscribe(step.names, step.topics)
        return set()


DOING: Mapping[Kind, Callable[[Maker, Step, ClusterSnapshot], set[str]]] = {
    "join": Maker.join,
    "join of several": Maker.join,
    "static join": Maker.join,
    "leave": Maker.leave,
    "leave of several": Maker.leave,
    "crash": Maker.crash,
    "crash of several": Maker.crash,
    "removal": Maker.remove,
    "restart": Maker.restart,
    "static restart": Maker.restart,
    "static expiry": Maker.restart,
    "rolling restart": Maker.restart,
    "switch of library": Maker.restart,
    "partitions": Maker.grow,
    "new topic": Maker.create,
    "subscription": Maker.subscribe,
}


def _rolled(group: Group) -> Iterator[str]:
    """Names in the order in which a deploy goes through members."""
    members = group.members or ()
    for member in sorted(members, key=lambda m: (m.instance_id or m.client_id, m.member_id)):
        yield name_of(member)


def grow_topic(bootstrap: str, topic: str, count: int) -> None:
    """Give a topic more partitions and wait until the broker's metadata have them."""
    admin: AdminClient = admin_of(bootstrap)
    for future in admin.create_partitions([NewPartitions(topic, count)]).values():
        future.result(60)
    wait_until(
        lambda: len(admin.list_topics(timeout=60).topics[topic].partitions) == count,
        f"{topic} has {count} partitions",
    )
