"""One noun a file; each adds its commands to the program."""
