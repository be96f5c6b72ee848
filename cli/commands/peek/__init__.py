"""`kgroups peek`: the records that groups stand at."""
