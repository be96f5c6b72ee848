"""`kgroups schema` and `kgroups explain`."""
