"""A scenario file and assignors of a user's own, as the command line reads them in its tests."""

SCENARIO = """\
schema: kgroups.scenario/1
topics:
  orders: 6
  payments: {partitions: 3, lag: [100, 0, 250]}
groups:
  orders-app:
    assignor: cooperative-sticky
    client: java
    members:
      app-1: {topics: [orders, payments], owned: {orders: [0, 1, 2], payments: [0, 1]}}
      app-2: {topics: [orders, payments], owned: {orders: [3, 4, 5], payments: [2]}}
  upgraded:
    protocol: consumer
    assignor: range
    members:
      m1: {pattern: "ord.*", owned: {orders: [0, 1, 2, 3, 4, 5]}}
    changes:
      - add_topic: orders-eu=3
"""

MISSPELT = SCENARIO.replace("topics: [orders, payments], owned: {orders: [3", "topcis: [orders], "
                            "owned: {orders: [3")  # fmt: skip

CYCLIC = SCENARIO.replace("app-1: {", "app-1: &one {").replace(
    "[0, 1, 2], payments", "*one, payments"
)

# A member without topics, first in hash order: Java's class gives it partitions.
FAULTY = """\
topics: {orders: 2}
groups:
  idle-app:
    assignor: sticky
    client: java
    members:
      B: {topics: []}
      C: {topics: [orders], owned: {orders: [0, 1]}}
"""

SIMULATION = """\
schema: kgroups.simulation/1
name: deploy
topics:
  orders: {partitions: 4, rate: 40}
groups:
  orders-app:
    members:
      app: {count: 2, topics: [orders], processing: 2ms}
    settings: {session.timeout.ms: 10s}
events:
  - {at: 30s, rolling_restart: {group: orders-app, down: 2s, pause: 10s}}
"""

# `hang` waits for ever, so its test makes the limit short.
ASSIGNORS = '''\
"""Assignors of a user."""

import threading


class Raises:
    name = "raises"

    def assign(self, request):
        raise ValueError("no way")


class Hangs:
    name = "hangs"

    def assign(self, request):
        threading.Event().wait()


class Unknown:
    name = "unknown"

    def assign(self, request):
        return {"nobody": {"orders": [0]}}


class TwiceToOne:
    name = "twice-to-one"

    def assign(self, request):
        return {request.members[0].member_id: {"orders": [0, 0]}}


class TwiceToTwo:
    name = "twice-to-two"

    def assign(self, request):
        return {member.member_id: {"orders": [0]} for member in request.members}


class NoSuchPartition:
    name = "no-such-partition"

    def assign(self, request):
        return {request.members[0].member_id: {"orders": [99]}}


class Nonsense:
    name = "nonsense"

    def assign(self, request):
        return 42


class First:
    """Everything to the first reader by id."""

    name = "first"
    waives = {"balanced", "sticky"}

    def assign(self, request):
        shares = {member.member_id: {} for member in request.members}
        for topic, known in request.topics.items():
            readers = [m.member_id for m in request.members if topic in m.topics]
            if readers:
                shares[min(readers)][topic] = range(known.partitions)
        return shares
'''
