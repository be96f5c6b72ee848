"""The embedded cluster: brokers on loopback that any client can join, without Java.

pytest finds the fixtures `kafka_sandbox` and `new_kafka_sandbox` once the package is installed.
"""

from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.cluster import Cluster as AsyncSandbox
from kgroups.core.sandbox.coordination.event_log import LogLine
from kgroups.core.sandbox.faults.fault_rules import Drop, Fault, LoseRequest
from kgroups.core.sandbox.limits import Limits
from kgroups.core.sandbox.options import SandboxOptions
from kgroups.core.sandbox.sandbox import Sandbox

__all__ = [
    "Api",
    "AsyncSandbox",
    "Drop",
    "ErrorCode",
    "Fault",
    "Limits",
    "LogLine",
    "LoseRequest",
    "Sandbox",
    "SandboxOptions",
]
