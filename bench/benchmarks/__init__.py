"""One benchmark a module, each with a `BENCHMARK`; the runner finds them by itself."""
