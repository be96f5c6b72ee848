"""`kgroups check` and `kgroups wait`: conditions on groups, for scripts."""
