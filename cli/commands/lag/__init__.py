"""`kgroups lag`."""
