"""What is counted in a run, and its results."""
