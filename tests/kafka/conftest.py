"""What tests on real brokers share besides the brokers."""

import pytest

from kgroups.cli.params import CLIENTS
from tests.support.cli.runner import GIVEN


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which client the command line asks the cluster with."""
    monkeypatch.setitem(GIVEN, "KGROUPS_CLIENT", request.param)
    return str(request.param)
