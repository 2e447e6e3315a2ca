"""``python -m ssediag``."""

from ssediag.cli.entry import main

if __name__ == "__main__":
    main()
