"""Ctrl-C while a broker is waited for."""

import signal
import socket
import sys
from contextlib import closing

from tests.support.kafka.child import WAIT_S, Child

CODE = """
import sys
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
try:
    with ClusterAdmin(ClientSettings(sys.argv[1])) as admin:
        admin.list_groups()
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_quietly() -> None:
    """The interrupt comes out as it is, and nothing complains of what was under way."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        silent.settimeout(WAIT_S)
        with Child([sys.executable, "-W", "default", "-c", CODE, address]) as process:
            client, _ = silent.accept()
            with closing(client):
                client.settimeout(WAIT_S)
                assert client.recv(1000)  # it has asked, and waits
                process.send_signal(signal.SIGINT)
                stdout, stderr = process.communicate(timeout=WAIT_S)
    assert (stdout, stderr) == ("interrupted\n", "")
