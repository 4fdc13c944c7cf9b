"""Fill the command-line page from the commands themselves, so that it cannot fall behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

MARK = "<!-- commands -->"
# As a user comes to them; the rest by name.
FIRST = ["compare", "fit", "predict", "neighbors"]


def command_page() -> str:
    """Return one Markdown section a command: what it does, its usage line, its options."""
    import typer

    from vicinal.cli import app

    root = typer.main.get_command(app)
    return "\n\n".join(section(name, command) for name, command in walk("vicinal", root))


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, under its full name, sub-commands included."""
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    rest = sorted(word for word in children if word not in FIRST)
    for word in [*(word for word in FIRST if word in children), *rest]:
        yield from walk(f"{name} {word}", children[word])


def section(name: str, command: Any) -> str:
    import click

    context = click.Context(command, info_name=name)
    usage = f"{name} {' '.join(command.collect_usage_pieces(context))}"
    said = "\n\n".join(map(as_code, (command.help or "").replace("\b", "").strip().split("\n\n")))
    options = [row for p in command.params if (row := p.get_help_record(context))]
    table = "\n".join(
        f"`` {words} ``\n: {as_code(' '.join((text or ' ').split())) or ' '}\n"
        for words, text in options
    )
    return f"## {name}\n\n{said}\n\n```text\n{usage}\n```\n\n{table}"


def as_code(paragraph: str) -> str:
    """Return an example as code to be copied: in prose two dashes become one long one."""
    word, _, example = paragraph.partition("Example: ")
    if word or not example:
        return re.sub(r"(?<![`\w])(--[a-z][a-z-]*)", r"`\1`", paragraph)
    return f"```console\n$ {example}\n```"


def fill(app: Any, docname: str, source: list[str]) -> None:
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, command_page())


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
