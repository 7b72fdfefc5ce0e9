"""`python -m supersample` is the command `supersample`."""

from supersample.cli import main

if __name__ == "__main__":
    main()
