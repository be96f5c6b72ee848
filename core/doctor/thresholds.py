"""From where on something is worth saying, each with its reason."""

from typing import Final

EXPIRES_SOON_S: Final = 24 * 3_600
"""Time enough to start the group's consumers, or to save its commits."""
STORM_REBALANCES: Final = 6
"""In the window. A deploy of a few members makes as many, and has a cause of its own."""
STORM_PER_HOUR: Final = 4.0
"""Rebalances an hour: an autoscaler and deploys of a busy day stay below it."""
HOT_SHARE: Final = 0.8
"""Of the lag in one partition of at least `HOT_PARTITIONS`: keys that are not spread."""
HOT_PARTITIONS: Final = 4
HOT_LAG: Final = 1_000
"""Records: less than that is what one slow fetch leaves."""
STALLED_S: Final = 10.0
"""Twice the usual interval of auto-commit, 5 s: any healthy reader has committed since."""
STUCK_S: Final = 30.0
"""Ten initial delays of a new group (3 s), six heartbeats of KIP-848: what takes longer waits for
somebody."""
POISON_MEMBERS: Final = 3
"""That lost one partition, without a deploy, while its commit stood: two may be chance."""
QUICKLY_MS: Final = 300_000
"""A static member that stays for less did not restart for a deploy."""
SWAPS: Final = 3
"""Of one instance id, each quickly: a restart that failed makes two."""
FENCED_MEMBERS: Final = 2
"""Of one instance id: one is fenced where a restart overlaps with its predecessor."""
ROLL_MS: Final = 60_000
"""Between the first member that left and the empty group: stopping all at once takes less."""
FASTEST_PER_S: Final = 200_000
"""Records of one partition: no consumer reads more."""
BEHIND_RATIO: Final = 0.95
"""Consumed of what is produced; a smaller difference is noise between two looks."""
SCALING_MS: Final = 600_000
"""Between two members of one scaling: Kubernetes starts pods one after the other."""
MOST_ECHOES: Final = 3
"""Rebalances that follow of one: with more of them, they have a cause of their own."""
RESTLESS_MS: Final = 60_000
"""After members came or went: KafkaJS's on a busy machine ask for round after round meanwhile."""
HANDOVER_MS: Final = 30_000
"""After a rebalance: the old owner may commit when the new one has begun at an older commit."""
BACKWARDS_AGAIN: Final = 3
"""Times of one partition: rebalances alone do not make so many."""
OPEN_SHARE: Final = 0.5
"""Of `transaction.timeout.ms`: commits that are on time take a small part of it."""
OPEN_MS: Final = 10_000
"""A transaction that is younger is no news, however short its timeout."""
OVERDUE_MS: Final = 30_000
"""After its timeout: coordinators look every 10 s for what they have to abort."""
MOST_OPEN_MS: Final = 15 * 60_000
"""Timeout of transactions whose own is not known: `transaction.max.timeout.ms` of brokers."""
HELD_S: Final = 10.0
"""Two looks this far apart that see the same transaction say that it is not a new one."""
ELECTIONS: Final = 8
"""Of a coordinator in an hour: a restart of all brokers in turn takes four to six."""
NEAR_SHARE: Final = 0.9
"""Of the members that a group may have: a deploy that starts new ones first passes it."""
QUOTA_SHARE: Final = 0.7
"""Of a quota: brokers hold an average of eleven seconds to it, so a look sees less or more."""
RELIEF_SHARE: Final = 0.8
"""Of what the owner of a hot partition has to read: less relief is not worth a change."""
