"""What is wrong with a group."""
