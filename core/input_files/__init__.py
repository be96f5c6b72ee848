"""Files that people wrote: read within limits, as JSON or YAML, with the line of each place."""
