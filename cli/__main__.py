"""`python -m kgroups.cli` is `kgroups`."""

from kgroups.cli.app import main

if __name__ == "__main__":
    main()
