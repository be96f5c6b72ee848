"""`kgroups transactions`: open transactions, listed and ended."""
