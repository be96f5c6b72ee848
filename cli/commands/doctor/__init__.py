"""`kgroups doctor`."""
