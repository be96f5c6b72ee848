"""A real Kafka by hand: `make kafka` starts one broker and prints its address.

stdout has the address and nothing else. It runs until Ctrl-C or SIGTERM; its data are gone then.
"""

import signal
import sys
from types import FrameType

from kgroups.core.errors import KgroupsError
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.jars import say


def _stop(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


def main() -> int:
    """Start, print the address, wait for a signal, stop. 0; 2 when a broker cannot run here."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        say("starting one broker (a few seconds)")
        with KafkaCluster() as cluster:
            print(cluster.bootstrap, flush=True)
            say(f"runs until Ctrl-C; its log is {cluster.log_path()}")
            try:
                signal.pause()
            except KeyboardInterrupt:
                say("stopping")
    except KgroupsError as failure:
        hint = f"\n\nhint: {failure.hint}" if failure.hint else ""
        print(f"error: {failure.message}{hint}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
