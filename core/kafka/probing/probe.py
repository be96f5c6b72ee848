"""The steps in their order, up to the first that fails."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.probing import rights
from kgroups.core.kafka.probing.network import NetworkProbe
from kgroups.core.kafka.probing.step import Step, failed


def probe(settings: ClientSettings, deadline: Deadline) -> Iterator[Step]:
    """Steps on the way to a cluster; ends after the first step that fails.

    Args:
        settings: how to reach the cluster and enter it.
    Raises:
        UsageError: a certificate or key of ours cannot be read.
    """
    network = NetworkProbe(settings, deadline)
    with asyncio.Runner() as runner:
        for look in (
            network.names,
            network.tcp,
            network.tls,
            network.token,
            network.ticket,
            network.login,
        ):
            steps = runner.run(look())
            yield from steps
            if any(step.status == "failed" for step in steps):
                return
    with ClusterAdmin(settings, deadline=deadline) as admin:
        yield from _inside(admin)


def _inside(admin: ClusterAdmin) -> Iterator[Step]:
    if admin.notice is not None:  # librdkafka logs in, and we have not yet
        try:
            admin.coordinators(())
        except KgroupsError as error:
            yield failed("login", rights.CLUSTER, error)
            return
        yield Step("login", rights.CLUSTER, "ok", admin.notice)
    for name, look in (
        ("brokers", rights.brokers),
        ("groups", rights.groups),
        ("topics", rights.topics),
        ("read", rights.offsets_topic),
        ("clock", rights.clock),
    ):
        began = time.monotonic()
        try:
            steps = look(admin)
        except KgroupsError as error:
            steps = [failed(name, rights.CLUSTER, error)]
        took_ms = round(1_000 * (time.monotonic() - began), 1)
        for step in steps:
            yield step if step.status == "skipped" else replace(step, took_ms=took_ms)
        if any(step.status == "failed" for step in steps):
            return
