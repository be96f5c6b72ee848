"""The group coordinators of the embedded cluster, and its event log."""
