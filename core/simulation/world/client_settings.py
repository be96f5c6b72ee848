"""A client half's settings, from what a member of a scenario is configured with."""

from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan


def client_config(group: GroupPlan, plan: MemberPlan) -> ClientConfig:
    """The client half's settings."""
    given, traits = plan.settings, LIBRARIES[plan.library]
    return ClientConfig(
        group.name,
        client_id=plan.client_id,
        client_host=f"/{plan.name}",
        group_instance_id=plan.instance_id,
        client_rack=plan.rack,
        session_timeout_ms=given.session_timeout_ms,
        heartbeat_interval_ms=given.heartbeat_interval_ms,
        max_poll_interval_ms=given.max_poll_interval_ms,
        rebalance_timeout_ms=given.rebalance_timeout_ms,
        request_timeout_ms=given.request_timeout_ms,
        retry_backoff_ms=given.retry_backoff_ms,
        retry_backoff_max_ms=given.retry_backoff_max_ms,
        enable_auto_commit=plan.auto_commits,
        default_api_timeout_ms=given.default_api_timeout_ms,
        leaves_on_close=given.leave_group_on_close,
        first_heartbeat_ms=traits.first_beat_ms if group.protocol == "cooperative" else None,
        **traits.manners,
    )
