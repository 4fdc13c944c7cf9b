"""``python -m vicinal``: the same as the ``vicinal`` command."""

from vicinal.cli import main

main()
