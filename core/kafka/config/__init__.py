"""How to reach and enter a cluster: properties files in both spellings."""
