"""Who we are, told to a broker: a mechanism a file, and where tokens come from."""
