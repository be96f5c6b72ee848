"""Words of the group protocols, and the assignors: what each means or does.

Source: KIP-62, 345, 394, 429, 848, 932, 1071 and Kafka 4.4's protocol guide.
"""

from collections.abc import Mapping
from typing import Final

from kgroups.cli.meanings.meaning import Meaning

PROTOCOL: Final[Mapping[str, str]] = {
    "classic": "the protocol of JoinGroup and SyncGroup: a member, the leader, assigns",
    "consumer": "the protocol of KIP-848: the broker assigns, members move one by one",
    "share": "groups of KIP-932: members read the same partitions, each record once, as of a queue",
    "streams": "the protocol of KIP-1071: the broker assigns the tasks of a Kafka Streams topology",
    "eager": "how classic groups rebalance by default: every member gives up all partitions first",
    "cooperative": "classic rebalancing of KIP-429: only partitions that move are given up, in a "
    "second rebalance",
    "zookeeper": "how consumers of Kafka 0.8 shared partitions: each claims its own in ZooKeeper",
    "coordinator": "the broker that runs a group: the leader of its partition of "
    "__consumer_offsets; when it moves, members go on, without a rebalance",
    "leader": "the member that assigns in a classic group, as a rule the one that joined first; "
    "also the broker that leads a partition",
    "follower": "any other member, or a replica that copies a partition",
    "rebalance": "members of a group get other partitions: one joined, left or died, or topics "
    "changed",
    "generation": "the number of a classic group's rebalance; a member with an older one is "
    "refused",
    "epoch": "the number of a state of a consumer group, in place of generations; also of a "
    "partition's leader",
    "group-epoch": "counts the changes of a consumer group's members, subscriptions and topics",
    "target-epoch": "the group epoch whose assignment is computed; below the group epoch the group "
    "is Assigning",
    "member-epoch": "the epoch that a member has reached; while one is below the target epoch the "
    "group is Reconciling",
    "target-assignment": "what a member is to own when it has reconciled",
    "member-id": "made by the broker in classic groups (client id and a UUID), by the client in "
    "the others",
    "instance-id": "group.instance.id, the name of a static member",
    "static-member": "a member with an instance id (KIP-345): a restart within its session timeout "
    "causes no rebalance",
    "dynamic-member": "a member without one: it leaves when it closes, and joins under a new id",
    "session": "lasts while heartbeats come; without them for session.timeout.ms the member is "
    "removed",
    "heartbeat": "tells the coordinator that a member lives, and the member what it has to do",
    "subscription": "the topics, or the pattern, that a member wants to read",
    "revoked": "partitions that a member gave up in order, having committed them",
    "lost": "partitions taken from a member that was removed; as a figure, records that expired "
    "unread",
    "fenced": "refused, because another member has the instance id or the epoch is too old",
    "committed-offset": "the next offset that a group reads in a partition",
    "lag": "log end minus committed offset: records that a group has yet to read",
    "high-watermark": "up to where all in-sync replicas have a log; consumers read to there",
    "last-stable-offset": "up to where no transaction is open; read_committed reads to there",
    "log-start": "the first offset that a log still has",
    "tombstone": "a record without a value in __consumer_offsets: that a commit or group is gone",
    "FindCoordinator": "asks any broker which one runs a group",
    "JoinGroup": "a classic member wants in, with its subscription; answered when all have joined",
    "SyncGroup": "the leader hands in the assignment, and each member fetches its own",
    "Heartbeat": "a classic member lives; the answer says whether to rejoin",
    "LeaveGroup": "a classic member leaves, or an operator removes it",
    "OffsetCommit": "stores how far a group has read",
    "OffsetFetch": "asks how far it has",
    "OffsetDelete": "removes committed offsets of topics that nobody in the group reads",
    "DeleteGroups": "removes empty groups with their offsets",
    "ConsumerGroupHeartbeat": "the one request of KIP-848: joins, lives, acknowledges, leaves",
    "ShareGroupHeartbeat": "the same of share groups",
    "StreamsGroupHeartbeat": "the same of streams groups, with the topology",
}

ASSIGNORS: Final[Mapping[str, str]] = {
    "range": "divides each topic by itself: blocks of partitions, in the order of members; of "
    "classic and of consumer groups",
    "roundrobin": "deals all partitions to members in turn; of classic groups",
    "sticky": "balances the number of partitions, and leaves as many as it can where they are; "
    "eager, of classic groups; also the assignor of streams groups, for tasks",
    "cooperative-sticky": "like sticky, but members keep reading what does not move; of classic "
    "groups",
    "uniform": "balances the number of partitions and keeps targets; the default of consumer "
    "groups",
    "simple": "spreads the partitions over the members of a share group, several to each where "
    "members are more",
    "RoundRobinAssigner": "kafkajs's default: deals partitions in turn, to members that do not "
    "subscribe to the topic as well",
    "lag": "balances lag: the partition with the most goes to the member with the least; for plans",
    "lag-sticky": "like sticky, then swaps partitions where that balances lag; for plans",
    "random": "draws an owner for each partition; an example of an assignor of one's own",
    "broadcast": "gives every partition to every member; an example of an assignor of one's own",
}

PROTOCOL_WORDS: Final = (
    *(Meaning(word, "protocol word", text, None) for word, text in PROTOCOL.items()),
    *(Meaning(word, "assignor", text, None) for word, text in ASSIGNORS.items()),
)
