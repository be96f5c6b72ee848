"""A group of real consumers of any library, and what is done to its members."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from kgroups.core.snapshot import TopicPartition
from tests.support.fidelity.hosts.pool import HostPool, java_settings
from tests.support.fidelity.hosts.process import HostFailed, HostProcess
from tests.support.fidelity.libraries import TRAITS, Library, Protocol

SESSION_MS = 8_000
HEARTBEAT_MS = 300
REFRESH_MS = 400


@dataclass(frozen=True)
class MemberSpec:
    """One consumer.

    Args:
        name: its client id, which no other member of the group has; or, `unnamed`, the end of its
            instance id, and its client id is the library's own.
        topics: what it subscribes to, where it has no pattern.
        pattern: the regular expression by which it subscribes.
        crashes: whether it will be killed, so that it needs a process of its own.
        version: of Kafka that its library is told to be made for.
        classic: its strategy, where it speaks the classic protocol in a KIP-848 group.
    """

    name: str
    library: Library
    topics: tuple[str, ...] = ()
    pattern: str = ""
    instance: str = ""
    rack: str = ""
    crashes: bool = False
    version: str = ""
    unnamed: bool = False
    classic: str = ""

    @property
    def called(self) -> str:
        """The id by which a plan finds it."""
        return self.instance if self.unnamed else self.name


@dataclass
class _Held:
    spec: MemberSpec
    host: HostProcess
    alone: bool


class DrivenGroup:
    """The members of one group; a context manager that closes them.

    Args:
        topics: name to partitions, those that exist; kept up to date by the caller.
    """

    def __init__(
        self,
        pool: HostPool,
        bootstrap: str,
        group: str,
        protocol: Protocol,
        strategy: str,
        topics: dict[str, int],
    ) -> None:
        self.group, self.protocol, self.strategy, self.topics = group, protocol, strategy, topics
        self._pool, self._bootstrap = pool, bootstrap
        self._held: dict[str, _Held] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave([held.spec.name for held in self._held.values()], orderly=False)
        self._pool.give_up(self.group)

    @property
    def members(self) -> dict[str, MemberSpec]:
        """Those that are there, by name, in the order in which they came."""
        return {name: held.spec for name, held in self._held.items()}

    def join(self, specs: Sequence[MemberSpec]) -> None:
        """Let consumers join, all at once; it takes a moment until the group knows.

        Raises:
            HostFailed: a consumer could not be made.
        """
        opened = all_at_once(self._open, specs)
        self._held.update({held.spec.name: held for held in opened})

    def leave(self, names: Sequence[str], *, orderly: bool = True) -> None:
        """Let consumers end, all at once; static ones stay in the group.

        Raises:
            HostFailed: one could not; not if it need not be `orderly`.
        """
        leaving = [self._held.pop(name) for name in names]
        all_at_once(lambda held: self._close(held, orderly=orderly), leaving)

    def crash(self, name: str) -> None:
        """End a consumer without a word to the broker."""
        held = self._held.pop(name)
        assert held.alone
        held.host.kill()

    def subscribe(self, names: Iterable[str], topics: tuple[str, ...]) -> None:
        """Let consumers subscribe to something else, all at once."""

        def subscribe(name: str) -> None:
            held = self._held[name]
            held.host.ask("subscribe", name=self._name(name), topics=list(topics))
            held.spec = replace(held.spec, topics=topics)

        all_at_once(subscribe, list(names))

    def owned(self) -> dict[str, frozenset[TopicPartition]]:
        """What the consumers themselves believe to own.

        Raises:
            HostFailed: one of them has failed.
        """
        by_host: dict[HostProcess, list[str]] = {}
        for name, held in self._held.items():
            by_host.setdefault(held.host, []).append(name)
        found: dict[str, frozenset[TopicPartition]] = {}
        for host, names in by_host.items():
            owned = host.owned([self._name(name) for name in names])
            found |= {name: owned[self._name(name)] for name in names}
        return found

    def reads(self, spec: MemberSpec) -> frozenset[str]:
        """The topics of a member: patterns stand for all topics of the group."""
        return frozenset(self.topics if spec.pattern else spec.topics)

    def _open(self, spec: MemberSpec) -> _Held:
        protocol = "classic" if spec.classic else self.protocol
        strategy = spec.classic or self.strategy
        lonely = protocol == "classic" and strategy in TRAITS[spec.library].lonely
        alone = lonely or spec.crashes
        host = (
            self._pool.alone(spec.library) if alone else self._pool.shared(spec.library, self.group)
        )
        asked: dict[str, object] = {
            "name": self._name(spec.name),
            "servers": self._bootstrap,
            "group": self.group,
            "client": "" if spec.unnamed else spec.name,
            "instance": spec.instance,
            "rack": spec.rack,
            "strategy": strategy,
            "protocol": protocol,
            "version": spec.version,
            "topics": sorted(spec.topics),
            "pattern": spec.pattern,
            "session_ms": SESSION_MS,
            "heartbeat_ms": HEARTBEAT_MS,
            "refresh_ms": REFRESH_MS,
        }
        if spec.library == "java":
            by = "regex" if protocol == "consumer" else "pattern"
            reads = {by: spec.pattern} if spec.pattern else {"topics": sorted(spec.topics)}
            asked = {"name": asked["name"], "config": java_settings(asked), **reads}
        host.ask("open", **asked)
        return _Held(spec, host, alone)

    def _close(self, held: _Held, *, orderly: bool) -> None:
        try:
            held.host.ask("close", name=self._name(held.spec.name))
        except (HostFailed, TimeoutError):
            if orderly:
                raise
        finally:
            if held.alone:
                held.host.kill()

    def _name(self, name: str) -> str:
        return f"{self.group}/{name}"


Item = TypeVar("Item")
Done = TypeVar("Done")


def all_at_once(action: Callable[[Item], Done], items: Sequence[Item]) -> list[Done]:
    """What comes of each, in order."""
    if not items:
        return []
    with ThreadPoolExecutor(len(items)) as pool:  # leaving members wait for each other
        return list(pool.map(action, items))
