"""User data as members of the client libraries send it: partition t-0 of generation 3, or none."""

from kgroups.assignors.wire import encode_sticky_data

NUMBER = b"\x00\x00\x00\x03"
ZERO = b"\x00\x00\x00\x00"
V1 = encode_sticky_data((("t", (0,)),), 3)
EMPTY_V1 = encode_sticky_data((), 3)
UNDATED = encode_sticky_data((("t", (0,)),), -1)
PREFIXED = b"\x00\x01" + V1
COOPERATIVE, KAFKAJS = "cooperative-sticky", "RoundRobinAssigner"
