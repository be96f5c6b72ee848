"""`kgroups simulate`."""
