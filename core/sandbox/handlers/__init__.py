"""The handlers: one function an API, from a call to the fields of its answer."""
