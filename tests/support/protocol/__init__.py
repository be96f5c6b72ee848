"""Messages for the tests of the protocol: random ones, and kio's."""
