"""Questions to a `ClusterAdmin` that either backend answers."""
