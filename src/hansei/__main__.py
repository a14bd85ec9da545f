"""`python -m hansei` is the `hansei` command."""

from hansei.cli import main

if __name__ == "__main__":
    main()
