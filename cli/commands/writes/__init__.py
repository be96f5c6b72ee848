"""Commands that change a cluster, and what they share."""
