"""What is wrong with a group, from facts about it. Pure."""
