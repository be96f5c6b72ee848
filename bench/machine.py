"""What the figures were taken on."""

import os
import platform
import sys

from tests.support.kafka.jars import KAFKA_VERSION
from tests.support.kafka.java import require_java


def describe_machine() -> dict[str, object]:
    """Cores, memory in GiB and versions, for results.json."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": ".".join(map(str, sys.version_info[:3])),
        "java": require_java(),
        "kafka": KAFKA_VERSION,
    }
