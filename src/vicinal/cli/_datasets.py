"""``vicinal datasets``: what is known, what is here, and how large it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli import _options as cli

if TYPE_CHECKING:
    from vicinal.data import DatasetEntry

COLUMNS = ("name", "rows", "features", "target", "protocol", "where", "size", "licence")


def datasets(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Tell all about these sets; without names, list every set."),
    ] = None,
    present: Annotated[
        bool, typer.Option("--present", help="List only what is on this computer.")
    ] = False,
    json: cli.Json = None,
) -> None:
    """List the known data sets, where they are and how large; or tell all about some of them.

    A set that is absent is fetched from its public source when it is first used.

    Example: vicinal datasets wine letter
    """
    from vicinal.data import get_entry, list_datasets

    cli.check_output(json, "--json")
    records = [describe(get_entry(name)) for name in names or list_datasets()]
    if present:
        records = [record for record in records if record["where"] != "absent"]
    cli.write_json(json, {"version": __version__, "datasets": records})
    if names:
        cli.print_text("\n".join(detail(record) for record in records))
        return
    show(records)
    cli.say(summarise(records))


def describe(entry: DatasetEntry) -> dict[str, Any]:
    """Return what is known of a set as plain values, without opening its file."""
    from vicinal.data import find

    place, measured = find(entry), entry.measured
    where = place.place if place.plausible else f"{place.place}: wrong size"
    return {
        "name": entry.name,
        "title": entry.title,
        "task": entry.task,
        "rows": measured.shape[0],
        "features": measured.shape[1],
        "classes": len(measured.class_counts),
        "test_rows": measured.n_test,
        "groups": measured.n_groups,
        "group": entry.groups,
        "protocol": entry.protocol,
        "where": where,
        "path": None if place.path is None else str(place.path),
        "bytes": place.n_bytes,
        "file": None if entry.stored is None else entry.stored.name,
        "sha256": None if entry.stored is None else entry.stored.sha256,
        "licence": entry.licence,
        "citation": entry.citation,
        "source": entry.source.page,
        "openml": entry.source.openml,
        "raw_files": [{"name": f.name, "url": f.url} for f in entry.source.files],
        "notes": "; ".join(filter(None, (entry.note, entry.source.note))),
    }


def line_of(record: dict[str, Any]) -> dict[str, str]:
    """Return one line of the list, by column."""
    words = {name: str(record[name]) for name in COLUMNS if name in record}
    target = f"{record['classes']} classes" if record["classes"] else "real"
    return words | {"target": target, "size": format_size(record["bytes"])}


def format_size(n_bytes: int) -> str:
    """Return "0.2 MB", or nothing for nothing."""
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes else ""


def show(records: list[dict[str, Any]]) -> None:
    """Print a table on a terminal, and lines of columns parted by tabs elsewhere."""
    from vicinal.cli._console import make_console

    console, lines = make_console(), [line_of(record) for record in records]
    if not console.is_terminal:
        listing = [COLUMNS, *([line[name] for name in COLUMNS] for line in lines)]
        cli.print_text("".join("\t".join(words) + "\n" for words in listing))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in COLUMNS:
        # On a narrow terminal the licence is cut short; every set keeps to one line.
        width = None if name == "licence" else max(len(line[name]) for line in lines)
        right = name in ("rows", "features", "size")
        table.add_column(name, justify="right" if right else "left", no_wrap=True, min_width=width)
    for line in lines:
        style = "dim" if line["where"] == "absent" else None
        table.add_row(*(line[name] for name in COLUMNS), style=style)
    console.print(table)


def detail(record: dict[str, Any]) -> str:
    """Return all that is known of one set, a line a fact."""
    target = f"{record['classes']} classes" if record["classes"] else "a real target"
    facts = {
        "what": record["title"],
        "size": f"{record['rows']:,} rows, {record['features']:,} features, {target}",
        "test part": f"{record['test_rows']:,} rows" if record["test_rows"] else "",
        "groups": f"{record['groups']} ({record['group']})" if record["groups"] else "",
        "protocol": record["protocol"],
        "where": f"{record['where']} {record['path'] or ''}".strip(),
        "file": record["file"] or "",
        "sha256": record["sha256"] or "",
        "source": record["source"],
        "openml": f"https://www.openml.org/d/{record['openml']}" if record["openml"] else "",
        "raw files": ", ".join(f["url"] or f"{f['name']} (by hand)" for f in record["raw_files"]),
        "licence": record["licence"],
        "cite as": record["citation"],
        "notes": record["notes"],
    }
    lines = [f"  {name:<10} {fact}" for name, fact in facts.items() if fact]
    return "\n".join([record["name"], *lines]) + "\n"


def summarise(records: list[dict[str, Any]]) -> str:
    """Say how many sets are here, and which folders were looked in."""
    from vicinal.data import cache_folder, data_folder

    here = [record for record in records if record["where"] != "absent"]
    n_bytes = sum({record["path"]: record["bytes"] for record in here}.values())
    named = data_folder()
    folder = "VICINAL_DATA is not set" if named is None else f"VICINAL_DATA is {named}"
    if named is not None and not named.is_dir():
        folder += ", which is no folder"
    return (
        f"{len(here)} of {len(records)} sets are on this computer "
        f"({format_size(n_bytes) or '0 MB'}). {folder}; the cache is {cache_folder()}."
    )
