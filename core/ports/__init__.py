"""What the coordinator and its clients need from outside the standard library."""
