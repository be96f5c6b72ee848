"""`kgroups top`: a live screen of groups."""
