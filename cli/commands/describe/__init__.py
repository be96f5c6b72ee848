"""`kgroups describe`."""
