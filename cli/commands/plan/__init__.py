"""`kgroups plan`."""
