"""The package for Python workers of Spark that have none: modules, and the tables they read."""

import sys
from pathlib import Path

from kgroups.core.spark.worker_package import write_package
from tests.support.kafka.child import run_program

PROGRAM = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
sys.path.insert(0, sys.argv[1])
from kgroups.core.coordinator.log import record_codec
from kgroups.core.simulation.clients.properties import TABLES
print(record_codec.__file__.startswith(sys.argv[1]), len(record_codec.KINDS), sorted(TABLES))
"""


def test_modules_find_their_tables_in_the_archive(tmp_path: Path) -> None:
    """Kafka's messages and the properties of client libraries lie beside the code."""
    package = write_package(tmp_path)
    done = run_program([sys.executable, "-c", PROGRAM, package], check=True)
    assert done.stdout.strip() == "True 9 ['java', 'librdkafka']"
