"""Everything asked of a real cluster, for callers without an event loop."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Self, TypeVar

from kgroups.core.errors import ItemError
from kgroups.core.kafka import wire_backend
from kgroups.core.kafka.answers import (
    GroupListing,
    Isolation,
    Outcome,
    Placement,
    Progress,
    SnapshotScope,
)
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import OWN_CLIENT, BrokerFailure, cluster_error
from kgroups.core.kafka.reads.by_leader import TopicListing, read_topics
from kgroups.core.kafka.runner import Runner
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.tls import make_context
from kgroups.core.kafka.write_guard import WriteGuard
from kgroups.core.snapshot import ClusterSnapshot, Group, GroupType

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.librdkafka_writes import LibrdkafkaClient

__all__ = ["ClusterAdmin", "GroupListing", "Isolation", "Outcome", "Placement", "Progress"]

Result = TypeVar("Result")


class ClusterAdmin:
    """A real cluster, asked synchronously; a context manager, which ends its connections.

    Nothing is connected before the first question, and connections serve all later ones. Every
    question, and every function that asks an admin, raises ClusterError where the cluster cannot
    be reached, refuses access, or can be entered only through librdkafka, which cannot ask it.

    Args:
        settings: how to reach the cluster and enter it.
        timeout_ms: for each question as a whole, connecting included.
        deadline: of all questions together, instead.
        guard: what has to hold before anything is written.
        settles: ask coordinators only once they know all of their log: a write is planned on it.
    """

    def __init__(
        self,
        settings: ClientSettings,
        *,
        timeout_ms: int = 10_000,
        deadline: "Deadline | None" = None,
        guard: WriteGuard | None = None,
        settles: bool = False,
    ) -> None:
        self.settings = settings
        self.settles = settles
        self.deadline = deadline
        self.guard = guard or WriteGuard()
        self.has_written = False  # whether anything was sent that changes the cluster
        self.known_id: str | None = None  # the cluster's, once it has told it
        self.types: dict[str, GroupType] = {}  # of groups that are not written to as classic ones
        self._may_write = False  # of the question that is put now
        self._timeout_ms = timeout_ms
        self._runner: Runner | None = None
        self._cluster: Cluster | None = None
        self._obstacle = settings.wire_obstacle()
        self._fallback: LibrdkafkaClient | None = None

    @property
    def notice(self) -> str | None:
        """Warning about the way in: what is missing and why; None if nothing is."""
        if self._obstacle is None:
            return None
        return (
            f"using librdkafka ({self._obstacle}): slower, and subscriptions, epochs, share "
            "and streams groups are not shown"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ends(self) -> Deadline:
        """The deadline of all questions; where each has its own, that of one asked now."""
        return self.deadline or Deadline.after(self._timeout_ms)

    def close(self) -> None:
        """Ends all connections; a later question opens them anew."""
        runner, cluster = self._runner, self._cluster
        self._runner = self._cluster = self._fallback = None
        if runner is None:
            return
        try:
            if cluster is not None:
                runner.run(cluster.close())
        finally:
            runner.close()

    def list_groups(self, *, states: Sequence[str] = (), types: Sequence[str] = ()) -> GroupListing:
        """Groups of every type with their states, ascending by name.

        Args:
            states: only groups in one of these, in any case; empty for all.
            types: only groups of one of these types, in any case; empty for all.
        """
        listing = self.over_wire(wire_backend.list_groups, lambda client: client.list_groups())
        wanted_states = {state.lower() for state in states}
        wanted_types = {kind.lower() for kind in types}
        groups = tuple(
            group
            for group in listing.groups
            if (not wanted_states or (group.state or "").lower() in wanted_states)
            and (not wanted_types or group.type in wanted_types)
        )
        return listing._replace(groups=groups)

    def snapshot(
        self,
        groups: Sequence[str] | None = None,
        *,
        members: bool = True,
        offsets: bool = True,
        log_offsets: bool = True,
        isolation: Isolation = "read_uncommitted",
        more_topics: Callable[[str], bool] | None = None,
        progress: Progress | None = None,
    ) -> ClusterSnapshot:
        """Groups with members, commits and the bounds of what they read; failures are its `errors`.

        Args:
            groups: names; None for every group. One that does not exist is an error row.
            log_offsets: read the log bounds of every topic that a group names.
            isolation: `read_committed` reads last stable offsets too.
            more_topics: which topics to show though no group names them, by their name.
            progress: told what is being waited for.
        """
        scope = SnapshotScope(
            members, offsets, log_offsets, isolation, more_topics, progress or (lambda _: None)
        )
        return self.over_wire(
            lambda cluster, deadline: wire_backend.snapshot(cluster, groups, scope, deadline),
            lambda client: client.snapshot(groups, scope),
        )

    def coordinators(self, groups: Sequence[str]) -> Placement:
        """The broker that coordinates each of these groups, whether they exist or not."""
        return self.over_wire(
            lambda cluster, deadline: wire_backend.place(cluster, groups, deadline),
            lambda client: client.place(groups),
        )

    def hidden_groups(
        self, groups: Sequence[str], listed: Iterable[Group] = ()
    ) -> tuple[ItemError, ...]:
        """Those of the groups that may not be looked at, whether they exist or not.

        Brokers list their names, or leave them out: only asked for one do they say so.

        Args:
            listed: what `list_groups` gave just now.
        """
        return self.over_wire(
            lambda cluster, deadline: wire_backend.hidden(cluster, groups, listed, deadline),
            lambda client: client.hidden(groups),
        )

    def delete_groups(
        self, groups: Sequence[str], *, until: "Deadline | None" = None
    ) -> tuple[Outcome, ...]:
        """Outcome for each group, in the order given; a group named twice is deleted once.

        Args:
            until: the deadline, where it is another one than that of every question.
        """
        return self.over_wire(
            lambda cluster, deadline: wire_backend.delete_groups(cluster, groups, deadline),
            lambda client: client.delete_groups(groups),
            until=until,
            writes=True,
        )

    def cluster_id(self) -> str | None:
        """The id of the cluster; None if it does not tell one (before Kafka 0.10.1).

        Raises:
            ClusterError: the cluster cannot be reached, or does not let us in.
        """
        return self.coordinators(()).cluster_id

    def check_writable(self) -> None:
        """See that the cluster may be written to, before anything is planned.

        Raises:
            RefusedError: it may not, or is another one than expected.
            ClusterError: it cannot be asked which one it is.
        """
        self.guard.check_refusal()
        if self.guard.expected:
            self.guard.check_cluster(self.cluster_id())

    def group_names(self) -> tuple[str, ...]:
        """Names of all groups, ascending; for completion."""
        return tuple(group.group for group in self.list_groups().groups)

    def topic_names(self) -> tuple[str, ...]:
        """Names of all topics, ascending; for completion."""
        return self.over_wire(wire_backend.topic_names, lambda client: client.topics())

    def topics(self, names: Sequence[str]) -> TopicListing:
        """Those of the topics that exist, and those that may not be described."""
        return self.over_wire(
            lambda cluster, deadline: read_topics(cluster, names, deadline),
            lambda client: client.topic_listing(names),
        )

    def over_wire(
        self,
        question: "Callable[[Cluster, Deadline], Awaitable[Result]]",
        otherwise: "Callable[[LibrdkafkaClient], Result] | None" = None,
        *,
        until: "Deadline | None" = None,
        writes: bool = False,
    ) -> Result:
        """Answer to a question, its failure as an error of ours.

        Args:
            question: put over our own connections.
            otherwise: the same through librdkafka; None if it cannot do it.
            until: its deadline, where it is another one than that of every question.
            writes: whether it changes the cluster, which the guard has to allow.
        Raises:
            ClusterError: the cluster cannot be reached, or only through librdkafka, which cannot.
            RefusedError: it writes, and may not.
        """
        deadline = until or self.ends()
        if writes:
            self.check_writable()
            self.has_written = True
        self._may_write = writes
        try:
            if self._obstacle is not None:
                if otherwise is None:
                    text = f"not supported through librdkafka ({self._obstacle})"
                    raise BrokerFailure("UNSUPPORTED_VERSION", text, hint=OWN_CLIENT)
                client = self._librdkafka()
                client.deadline = deadline
                client.may_write = writes
                return otherwise(client)
            if self._runner is None:
                self._runner = Runner()
            return self._runner.run(self._ask(question, deadline))
        except BrokerFailure as failure:
            raise cluster_error(failure) from failure
        except KeyboardInterrupt:
            self.close()
            raise

    def cancel(self) -> bool:
        """End the question that is under way, from a signal handler: it raises KeyboardInterrupt.

        Returns:
            False where that cannot be done so, because none is, or librdkafka is asked.
        """
        runner = self._runner
        return runner is not None and runner.cancel()

    def _librdkafka(self) -> "LibrdkafkaClient":
        if self._fallback is None or self._fallback.is_stuck:
            from kgroups.core.kafka.librdkafka.librdkafka_writes import LibrdkafkaClient

            self._fallback = LibrdkafkaClient(self.settings)
        return self._fallback

    async def _ask(
        self,
        question: "Callable[[Cluster, Deadline], Awaitable[Result]]",
        deadline: Deadline,
    ) -> Result:
        if self._cluster is None:
            tls = None
            if self.settings.uses_tls:
                tls = make_context(self.settings.tls)
            self._cluster = await Cluster.open(self.settings, tls, deadline)
            self._cluster.types = self.types
        else:
            self._cluster.forget_failures()
            await self._cluster.hear_of_ends()
        self._cluster.may_write = self._may_write
        self._cluster.settles = self.settles
        self.known_id = self._cluster.cluster_id
        return await question(self._cluster, deadline)
