"""What Kubernetes does to members: deployments, stateful sets, autoscalers."""
