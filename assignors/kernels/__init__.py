"""Parts of the sticky strategies on numpy arrays, for large groups."""
