"""Members under Kubernetes: deployments, stateful sets, autoscalers."""
