"""Packages built from this checkout, and environments that have nothing else."""
