"""What tests on real brokers share besides the brokers."""

import pytest

from kgroups.cli.params import CLIENTS


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which client the command line asks the cluster with."""
    monkeypatch.setenv("KGROUPS_CLIENT", request.param)
    return str(request.param)
