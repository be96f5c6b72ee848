"""Where tables of captures are kept, and tables that stay open between commits."""
