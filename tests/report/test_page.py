"""The page as text: well formed, complete in itself, escaped, bounded, written whole or not."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vicinal.report import Comparison, Exhibit, Row, render_page, write_page
from vicinal.report import _page as page_module

MakeRow = Callable[..., Row]
MakeComparison = Callable[..., Comparison]
MakeExhibit = Callable[..., Exhibit]

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Outline(HTMLParser):
    """Checks that tags nest, and collects ids, texts, attributes and addresses."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute"
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).replace("\u00a0", " ").split())

    def addresses(self) -> list[str]:
        names = ("src", "href", "srcset", "action", "data", "poster", "xlink:href")
        return [v for _, attrs in self.tags for name, v in attrs.items() if name in names and v]


@pytest.mark.parametrize(
    "name", ["digits", "wine", "diabetes", "portrayed_digits", "portrayed_diabetes"]
)
def test_the_page_is_well_formed_and_complete_in_itself(
    name: str, request: pytest.FixtureRequest
) -> None:
    page = render_page(request.getfixturevalue(f"{name}_comparison"))
    outline = Outline(page)
    assert page.startswith("<!DOCTYPE html>")
    assert all(address.startswith(("data:", "#")) for address in outline.addresses())
    assert set(re.findall(r"url\((.)", page)) <= {"#"}
    assert "@import" not in page
    assert not re.search(r"https?://", page)
    assert "width=device-width" in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert "None" not in outline.text
    assert "nan" not in outline.text.split()


def test_every_part_of_the_record_is_told(digits_comparison: Comparison) -> None:
    text = Outline(render_page(digits_comparison)).text
    rows = digits_comparison.rows
    for words in (
        "1,797 rows, 64 features, 10 classes",
        "stratified 5-fold cross-validation; 5 test parts",
        "z-scored",
        "vicinal 0.1.0",
        "Alpaydin and Kaynak",
        "fitted on 1,000 of 1,437 rows",
        "The optimisation met a singular matrix in fold 2.",
        "★ best",
        "✗ failed",
        "What LDA learned",
        "Relevance of the features",
        "Spectrum of the metric",
        f"{100 * rows[1].error_mean:.2f} ± {100 * rows[1].error_sd:.2f}",
        f"{100 * (rows[1].gain or 0):.2f}".replace("-", "−"),
    ):
        assert words in text


def test_the_same_comparison_gives_the_same_page(digits_comparison: Comparison) -> None:
    assert render_page(digits_comparison) == render_page(digits_comparison)


def test_the_table_gives_the_script_full_numbers_to_sort_by(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    row = make_row(error_mean=0.1 + 0.2, gain=None, p_value=math.nan)
    tags = Outline(render_page(make_comparison(row))).tags
    values = [attrs["data-value"] for tag, attrs in tags if tag == "td"]
    assert values[1:4] == [repr(0.1 + 0.2), "", ""]


def every_string(value: Any, evil: str) -> Any:
    """The record with every text in it, however deep, replaced."""
    if isinstance(value, str):
        return evil
    if isinstance(value, tuple):
        return tuple(every_string(part, evil) for part in value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        return np.full(value.shape, evil)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        keep = {"task", "method", "status"}
        changes = {
            f.name: every_string(getattr(value, f.name), evil)
            for f in dataclasses.fields(value)
            if f.name not in keep
        }
        return replace(value, **changes)
    return value


@pytest.mark.parametrize("name", ["digits", "wine", "diabetes"])
@pytest.mark.parametrize(
    "evil",
    [
        "</title></style></script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)> ' onclick='alert(1)",
        "{{ 7 * 7 }}{% raw %}{# comment #}",
        "]]><!-- -->&lt;&amp;",
    ],
)
def test_no_text_of_the_record_can_add_markup(
    name: str, evil: str, request: pytest.FixtureRequest
) -> None:
    comparison = request.getfixturevalue(f"{name}_comparison")
    harmless = Outline(render_page(every_string(comparison, "harmless")))
    attacked = Outline(render_page(every_string(comparison, evil)))
    assert [tag for tag, _ in attacked.tags] == [tag for tag, _ in harmless.tags]
    assert [sorted(a) for _, a in attacked.tags] == [sorted(a) for _, a in harmless.tags]
    assert " ".join(evil.split()) in attacked.text


def test_only_the_pages_own_script_may_run(digits_comparison: Comparison) -> None:
    outline = Outline(render_page(digits_comparison))
    policy = next(a["content"] or "" for t, a in outline.tags if "http-equiv" in a and t == "meta")
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", policy)
    assert sum(tag == "script" for tag, _ in outline.tags) == 1


def test_characters_no_page_may_hold_are_replaced(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    name = "a\x00b\x1bc\x85d" + b"caf\xe9.csv".decode("utf-8", "surrogateescape")
    path = write_page(make_comparison(dataset=name), tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")
    assert "a\ufffdb\ufffdc\ufffdd" in text
    assert "caf?.csv" in text


def test_empty_exhibits_say_that_there_is_nothing(
    make_row: MakeRow, make_comparison: MakeComparison, make_exhibit: MakeExhibit
) -> None:
    outline = Outline(render_page(make_comparison(make_row(), exhibits=(make_exhibit(),))))
    assert "Nothing was kept to show of this method." in outline.text


def test_when_all_failed_no_sizes_are_made_up(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    failed = make_row(
        status="failed", message="it broke", errors=(), error_mean=math.nan, n_train=0, n_test=0
    )
    text = Outline(render_page(make_comparison(failed))).text
    assert "The only method failed on letter; the table says why." in text
    assert "it broke" in text
    assert "Training parts hold" not in text
    assert "0 test parts" not in text


def test_the_notes_column_is_there_only_where_there_are_notes(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    assert "Notes" not in Outline(render_page(make_comparison(make_row()))).text
    noted = make_row(notes=("fitted on 2,000 rows",))
    outline = Outline(render_page(make_comparison(make_row(), noted)))
    assert "Notes" in outline.text
    assert [a["data-value"] for _, a in outline.tags if a.get("class") == "notes"] == [
        "",
        "fitted on 2,000 rows",
    ]


def test_no_rows_make_a_page_too(make_comparison: MakeComparison) -> None:
    outline = Outline(render_page(make_comparison()))
    assert "Nothing was measured on letter." in outline.text
    assert "No method has been run yet." in outline.text


def test_one_fold_shows_no_spread_and_no_p_value(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    one = {"errors": (0.05,), "error_mean": 0.05, "error_sd": math.nan}
    rows = make_row(**one), make_row(**one, method="m", title="M", gain=0.0, p_value=math.nan)
    text = Outline(render_page(make_comparison(*rows))).text
    assert text.count("5.00 ± –") == 2
    assert "1 test part, the same for every method" in text


def test_one_k_is_drawn_as_dots(make_row: MakeRow, make_comparison: MakeComparison) -> None:
    text = Outline(render_page(make_comparison(make_row()))).text
    assert "Errors" in text
    assert "Error against k" not in text


def test_a_hundred_classes_and_ten_thousand_and_one_features_stay_small(
    make_row: MakeRow, make_comparison: MakeComparison, make_exhibit: MakeExhibit
) -> None:
    rng = np.random.default_rng(0)
    exhibit = make_exhibit(
        map_before=rng.normal(size=(60_000, 2)),
        map_after=rng.normal(size=(60_000, 2)),
        map_targets=np.array([f"class {i % 100}" for i in range(60_000)]),
        relevance=rng.random(10_001),
        feature_names=tuple(f"{'long ' * 50}{i}" for i in range(10_001)),
        eigenvalues=rng.random(10_001),
    )
    comparison = make_comparison(make_row(), n_classes=100, n_features=10_001, exhibits=(exhibit,))
    page = render_page(comparison)
    Outline(page)
    assert len(page.encode()) < 300_000
    assert "100\u00a0classes share 12 colours." in page


def test_ten_methods_on_pictures_stay_under_two_megabytes(
    make_row: MakeRow, make_comparison: MakeComparison, digits_comparison: Comparison
) -> None:
    rng = np.random.default_rng(0)
    base = digits_comparison.exhibits[0]
    examples = tuple(
        replace(
            example,
            images={row: rng.integers(0, 255, (28, 28)) for row in example.images},
            query_image=rng.integers(0, 255, (28, 28)),
        )
        for example in base.examples
    )
    exhibit = replace(
        base,
        map_before=rng.normal(size=(10_000, 2)),
        map_after=rng.normal(size=(10_000, 2)),
        map_targets=rng.integers(0, 10, 10_000).astype(str),
        relevance=rng.random(784),
        image_shape=(28, 28),
        examples=examples,
    )
    page = render_page(make_comparison(make_row(), exhibits=(exhibit,) * 10))
    assert len(page.encode()) < 2_000_000


def test_a_page_is_written_with_its_folder_and_nothing_else(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    path = write_page(make_comparison(), str(tmp_path / "new" / "report.html"))
    assert path == tmp_path / "new" / "report.html"
    assert path.read_text(encoding="utf-8") == render_page(make_comparison())
    assert os.listdir(path.parent) == ["report.html"]


def test_a_page_that_cannot_be_finished_leaves_the_old_one(
    make_comparison: MakeComparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("the old page")

    def full_disk(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_page(make_comparison(), path)
    assert path.read_text() == "the old page"
    assert os.listdir(tmp_path) == ["report.html"]


def test_the_templates_are_part_of_the_package() -> None:
    folder = Path(page_module.__file__).parent / "templates"
    assert {path.suffix for path in folder.iterdir()} == {".html", ".css", ".js"}


def test_the_page_is_made_without_loading_scikit_learn():
    code = "import sys; from vicinal.report import render_page; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
