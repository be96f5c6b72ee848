"""Named clusters: the configuration file, which context is in force, and secrets."""
