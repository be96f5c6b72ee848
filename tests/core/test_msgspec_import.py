"""An interrupt while msgspec is imported is one, wherever it comes."""

import json
import sys

from tests.support.cli.process import environment
from tests.support.kafka.child import run_program

EACH_MOMENT = """
import json, os, signal, sys
def interrupted(at):
    left = at
    def called(frame, event, argument):
        nonlocal left
        if event == "call":
            left -= 1
            if not left:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)
    sys.setprofile(called)
    try:
        import msgspec
    except KeyboardInterrupt:
        return 130
    finally:
        sys.setprofile(None)
    return 0
codes = {}
for at in range(1, 8_000, 211):
    if (child := os.fork()) == 0:
        os._exit(interrupted(at))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    codes[code] = codes.get(code, 0) + 1
print(json.dumps(codes))
"""


def test_an_interrupt_while_msgspec_is_imported() -> None:
    """At every so many calls: it is raised, or lost by Python, and the process lives."""
    done = run_program([sys.executable, "-c", EACH_MOMENT], env=environment(), check=True)
    codes = json.loads(done.stdout)
    assert codes.keys() <= {"0", "130"}
    assert codes["130"] > 10
