"""The one printer, and the tables that it prints."""
