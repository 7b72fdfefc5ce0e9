"""Run the command `supersample` by `python -m supersample`."""

from supersample.cli import main

if __name__ == "__main__":
    main()
