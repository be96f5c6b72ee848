"""`kgroups context`: named clusters."""
