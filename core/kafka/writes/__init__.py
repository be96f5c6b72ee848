"""What is changed in a cluster, with an outcome for each item."""
