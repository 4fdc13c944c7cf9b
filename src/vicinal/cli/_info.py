"""``vicinal info``: what a model file holds."""

from __future__ import annotations

from typing import Any

from vicinal.cli import _options as cli

N_SHOWN = 10


def info(model: cli.ModelFile, json: cli.Json = None) -> None:
    """Say what a model file holds: method, table, error, columns and what they were taken for.

    Example: vicinal info flowers.vicinal
    """
    cli.check_output(json, "--json", [model])
    from vicinal.models import load_model, read_metadata

    facts = read_metadata(model)
    fitted = load_model(model)
    columns = _columns(fitted)
    cli.write_json(json, {**facts, "columns": columns})
    for line in _lines(facts, fitted, columns):
        cli.say(line, err=False)


def _columns(fitted: Any) -> list[dict[str, Any]]:
    steps = getattr(fitted, "named_steps", {})
    if "columns" not in steps:
        return []
    return [
        {"name": c.name, "kind": c.kind, "features": len(c.features), "why": c.why}
        for c in steps["columns"].reading.columns
    ]


def _lines(facts: dict[str, Any], fitted: Any, columns: list[dict[str, Any]]) -> list[str]:
    if facts.get("kind") == "search":
        return [
            f"queries adapted to documents: {facts['best']}, learned from {facts['n_queries']:,} "
            f"queries and {facts['n_documents']:,} documents by vicinal {facts['version']}",
            *facts["advice"],
        ]
    if "method" not in facts:
        return [f"{type(fitted).__name__}, saved from Python", *map(str, facts.items())]
    vote = cli.phrase_vote(fitted, facts["k"])
    lines = [
        f"{facts['method']}, {vote}, {facts['task']} of {facts['target']!r}, fitted on "
        f"{facts['n_train']:,} rows of {facts['dataset']} by vicinal {facts['version']}"
    ]
    if facts.get("error_mean") is not None:
        shown, plain = (
            cli.format_error(facts[name], facts["task"])
            for name in ("error_mean", "euclidean_error")
        )
        lines.append(f"error on {facts['n_test']:,} held-out rows: {shown} (Euclidean: {plain})")
    top = list(facts.get("relevance", {}).items())[:5]
    if top:
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in top)
        lines.append(f"features that weigh most in the distance: {shares}")
    for column in columns[:N_SHOWN]:
        what = column["why"] or f"{column['features']} feature{'s' * (column['features'] != 1)}"
        lines.append(f"  {column['name']}: {column['kind']}, {what}")
    more = len(columns) - N_SHOWN
    return lines + ([f"  and {more} more columns"] if more > 0 else [])
