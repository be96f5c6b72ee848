"""The client half of both protocols, without I/O."""
