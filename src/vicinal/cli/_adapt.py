"""``vicinal adapt``: queries adapted to the documents that answered them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli

Option = typer.Option
N_SHOWN, MOST_LETTERS = 8, 300

Queries = Annotated[
    str,
    typer.Argument(
        help="Vectors of queries: .npy, .npz, FILE.npz:NAME, .parquet or .jsonl.", metavar="QUERIES"
    ),
]
Documents = Annotated[
    str, typer.Argument(help="Vectors of documents, likewise.", metavar="DOCUMENTS")
]
Pairs = Annotated[
    str,
    typer.Argument(
        help="Which document answered which query: two columns (.csv, .tsv, .jsonl, .parquet), or "
        "a row number a query (.npy, FILE.npz:NAME).",
        metavar="PAIRS",
    ),
]


def adapt(
    queries: Queries,
    documents: Documents,
    pairs: Pairs,
    out: Annotated[
        Path | None, Option("--out", "-o", help="The model file to write.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None, Option("--report", help="Write the page here.", show_default=False)
    ] = None,
    maps: Annotated[
        str, Option(help="query (the index stays), document (documents move) or both.")
    ] = "query",
    loss: Annotated[str, Option(help="auto, softmax, hinge or gerrymandering.")] = "auto",
    split: Annotated[
        str, Option(help="What is held out to choose by: queries, documents or both.")
    ] = "both",
    unjudged: Annotated[
        str, Option(help="Documents that no query names: ignore them, or take them for wrong.")
    ] = "ignore",
    components: Annotated[
        int | None, Option("--components", help="Shorten vectors to so many numbers.")
    ] = None,
    seed: Annotated[int, Option(help="Seed of the inner splits.")] = 0,
    json: cli.Json = None,
) -> None:
    """Adapt queries to an index that stays, and say whether it helps.

    Learns a map of queries from pairs of a query and a document that answered it. What is gained is
    measured on queries, and on documents, that were held out.

    Example: vicinal adapt questions.npy chunks.npy clicks.csv --out search.vicinal

    Example: vicinal adapt q.jsonl d.jsonl pairs.jsonl --report gains.html
    """
    for place, option in ((out, "--out"), (report, "--report"), (json, "--json")):
        cli.check_output(place, option, [queries, documents, pairs])
    with cli.working("reading vectors"):
        from vicinal.search.vectors import read_pairs, read_vectors

        asked, answers = read_vectors(queries), read_vectors(documents)
        relevance = read_pairs(pairs, asked, answers)
    m, n = len(asked.vectors), len(answers.vectors)
    with cli.working(f"adapting {m:,} queries to {n:,} documents"), cli.noting():
        from vicinal.search import QueryAdapter

        adapter = QueryAdapter(
            maps, loss=loss, split=split, unjudged=unjudged, n_components=components,
            random_state=seed,
        ).fit(asked.vectors, answers.vectors, relevance)  # fmt: skip
    record = _describe(adapter, m, n, seed)
    if out is not None:
        from vicinal.models import save_model

        with cli.saving(out):
            save_model(adapter, out, **record)
    cli.write_json(json, record)
    if report is not None:
        cli.write_file(report, _page(adapter, record, asked, answers, relevance))
    _print(record, out, report, queries)


def _describe(adapter: Any, n_queries: int, n_documents: int, seed: int) -> dict[str, Any]:
    from vicinal import __version__
    from vicinal.search.advice import advise

    return {
        "kind": "search",
        "maps": adapter.maps,
        "best": adapter.best_,
        "report": adapter.report_,
        "leaderboard": adapter.leaderboard_,
        "advice": advise(adapter.report_, adapter.best_),
        "notes": adapter.notes_,
        "n_queries": n_queries,
        "n_documents": n_documents,
        "seed": seed,
        "version": __version__,
    }


def _print(record: dict[str, Any], out: Path | None, report: Path | None, queries: str) -> None:
    """Print the table, the advice, and what to do next."""
    from rich.table import Table

    from vicinal.cli._console import make_console

    table = Table(title=f"{record['n_queries']:,} queries, {record['n_documents']:,} documents: "
                  f"{record['best']}")  # fmt: skip
    for name in ("held out", "measure", "before", "after", "gain", "95 of 100", "queries"):
        table.add_column(name, justify="left" if name in ("held out", "measure") else "right")
    for row in record["report"]:
        table.add_row(
            row["held_out"], row["measure"], f"{row['plain']:.3f}", f"{row['adapted']:.3f}",
            f"{row['gain']:+.3f}", f"{row['low']:+.3f} to {row['high']:+.3f}",
            f"{row['n_queries']:,}",
        )  # fmt: skip
    make_console().print(table)
    for line in (*(f"note: {note}" for note in record["notes"]), *record["advice"]):
        cli.say(line, err=False)
    if report is not None:
        cli.say(f"page: {report}", err=False)
    if out is not None:
        cli.say(f"model: {out}", err=False)
        cli.say(f"next: vicinal transform {out} {queries} --queries --out mapped.npy", err=False)


def _page(adapter: Any, record: dict[str, Any], asked: Any, answers: Any, relevance: Any) -> str:
    """Return the page, with the texts of queries and documents where the files have them."""
    from vicinal.report import SearchExample, render_search
    from vicinal.search import read_judgements

    grades = read_judgements(relevance, len(asked.vectors), len(answers.vectors)).grades
    examples = [
        SearchExample(
            asked.text(row)[:MOST_LETTERS],
            answers.text(int(grades.indices[grades.indptr[row]]))[:MOST_LETTERS],
            before,
            after,
        )
        for row, before, after in _moved_most(adapter.held_out_places_.tolist())
    ]
    gained = [each for each in examples if _worth(each.after) > _worth(each.before)]
    lost = [each for each in examples if _worth(each.after) < _worth(each.before)]
    return render_search(
        record["report"], record["leaderboard"], advice=record["advice"], notes=record["notes"],
        title=f"{record['n_queries']:,} queries adapted to {record['n_documents']:,} documents",
        gained=gained, lost=lost,
    )  # fmt: skip


def _moved_most(places: list[list[int]]) -> list[list[int]]:
    """Return the held-out queries that gained most, then those that lost most."""
    ranked = sorted(places, key=lambda each: _worth(each[2]) - _worth(each[1]))
    least = max(0, len(ranked) - N_SHOWN)
    return [*ranked[least:][::-1], *ranked[: min(N_SHOWN, least)]]


def _worth(place: int) -> float:
    return 1 / place if place else 0.0
