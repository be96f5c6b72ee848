"""What is asked of a cluster, one kind of answer a module."""
