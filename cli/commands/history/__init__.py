"""`kgroups history`: the command, and what it shows."""
