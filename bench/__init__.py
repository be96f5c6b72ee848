"""Side-by-side benchmarks: `make bench`, or `python -m bench NAME..` for some of them."""
