"""The documentation builds without a warning, its code runs, and it names what exists."""

from __future__ import annotations

import doctest
import json
import re
import resource
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import vicinal
from vicinal.methods import METHODS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("guide/*.md"), *DOCS.glob("decisions/*.md")])
TOLD_IN_CODE = [page for page in PAGES if ">>>" in page.read_text(encoding="utf-8")]
EXAMPLES = sorted((DOCS / "examples").glob("plot_*.py"))
GENERATED = ("_build", "gallery", "generated", "sg_execution_times.rst")


def identify(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def _limit_cpu() -> None:
    """Give the build ten minutes of the processor, however long a busy machine takes for them."""
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))


@pytest.fixture(scope="module")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site from a copy, gallery scripts not executed, warnings as errors."""
    place = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, place / "docs", ignore=shutil.ignore_patterns(*GENERATED))
    for page in ROOT.glob("*.md"):
        shutil.copy(page, place)
    (place / "src").symlink_to(ROOT / "src")  # some pages show files of the package
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    options = ["-D", "plot_gallery=0"]
    built = subprocess.run(
        [*command, *options, str(place / "docs"), str(place / "html")],
        capture_output=True,
        text=True,
        preexec_fn=_limit_cpu,
    )
    if built.returncode != 0:
        (place / "failed").write_text(built.stderr[-4000:] or f"exit code {built.returncode}")
    return place / "html"


def text_of(page: Path) -> str:
    return re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))


@pytest.fixture
def site(built_site: Path) -> Path:
    """The site, for tests that have nothing to say of one that could not be built."""
    if (built_site.parent / "failed").exists():
        pytest.skip("the site was not built; its own test says why")
    return built_site


@pytest.mark.timeout(1800)
def test_the_documentation_builds_without_warnings(built_site: Path) -> None:
    failed = built_site.parent / "failed"
    assert not failed.exists(), failed.read_text()
    assert (built_site / "index.html").exists()


def test_examples_on_the_command_page_can_be_copied(site: Path) -> None:
    page = text_of(site / "cli.html")
    assert "vicinal compare flowers.csv --target species" in page
    assert "–target" not in page
    places = [page.index(f"vicinal {word}") for word in ("compare", "fit", "predict", "bench")]
    assert places == sorted(places)


def read_configuration(monkeypatch: pytest.MonkeyPatch, online: str | None) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    monkeypatch.delenv("DOCS_ONLINE", raising=False)
    if online is not None:
        monkeypatch.setenv("DOCS_ONLINE", online)
    return runpy.run_path(str(DOCS / "conf.py"))


def test_no_page_fetches_anything_when_built_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for unasked in (None, "", "0"):
        assert read_configuration(monkeypatch, unasked)["intersphinx_mapping"] == {}
    linked = read_configuration(monkeypatch, "1")["intersphinx_mapping"]
    assert {"numpy", "sklearn", "torch"} <= set(linked)
    assert all(url.startswith("https://") and url.endswith("/") for url, _ in linked.values())


def test_the_api_page_names_every_public_name(site: Path) -> None:
    """What the page lists is exactly what the package and its doors offer."""
    from vicinal import data, sphere, testing

    page = (site / "api" / "generated" / "index.html").read_text(encoding="utf-8")
    listed = set(re.findall(r'title="(vicinal[\w.]*)"><code', page))
    public = {f"vicinal.{name}" for name in vicinal.__all__ if name != "__version__"}
    for door in (data, sphere, testing):
        public |= {f"{door.__name__}.{n}" for n in door.__all__ if n not in vicinal.__all__}
    assert public <= listed
    assert {name for name in listed if name.count(".") == 1} <= public


def test_the_command_page_names_every_command(site: Path) -> None:
    from vicinal.cli import app

    page = text_of(site / "cli.html")
    names = [command.name for command in app.registered_commands]
    assert names
    assert [name for name in names if f"vicinal {name}" not in page] == []


def test_every_page_of_the_guide_is_reachable(site: Path) -> None:
    index = (site / "guide" / "index.html").read_text(encoding="utf-8")
    pages = [page for page in DOCS.glob("guide/*.md") if page.stem != "index"]
    assert [page.stem for page in pages if f'href="{page.stem}.html"' not in index] == []


@pytest.mark.parametrize("page", TOLD_IN_CODE, ids=identify)
def test_the_code_on_a_page_gives_what_the_page_shows(page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(
        page.read_text(encoding="utf-8"), {}, page.name, str(page), 0
    )
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


def test_every_convention_is_shown_by_code() -> None:
    """Between one rule in bold and the next there is at least one line of code that is run."""
    text = (DOCS / "conventions.md").read_text(encoding="utf-8")
    rules = re.split(r"^(?=\*\*)", text, flags=re.MULTILINE)[1:]
    assert len(rules) >= 12
    assert [rule.splitlines()[0] for rule in rules if ">>> " not in rule] == []
    assert "+SKIP" not in text


@pytest.mark.parametrize("script", EXAMPLES, ids=identify)
def test_a_gallery_script_runs(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        plt.close("all")
    assert capsys.readouterr().out.strip()


def test_there_are_gallery_scripts() -> None:
    assert len(EXAMPLES) >= 3


def test_every_reference_has_one_entry() -> None:
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{\s*([^,\s]+)", text, flags=re.MULTILINE)
    titles = [
        re.sub(r"\W+", " ", title).lower().strip()
        for title in re.findall(r"^\s*title\s*=\s*[{\"](.*)[}\"],?\s*$", text, flags=re.MULTILINE)
    ]
    assert sorted(set(keys)) == sorted(keys)
    assert sorted(set(titles)) == sorted(titles)


def test_every_method_cites_a_known_reference() -> None:
    from vicinal.methods._table import list_methods

    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    keys = set(re.findall(r"^@\w+\{\s*([^,\s]+)", text, flags=re.MULTILINE))
    cited = {method.citation for method in list_methods() if method.citation}
    assert cited - keys == set()


def test_the_page_on_comparing_names_every_method() -> None:
    page = (DOCS / "guide" / "compare.md").read_text(encoding="utf-8")
    assert [method.name for method in METHODS if f"`{method.name}`" not in page] == []


def test_the_citation_file_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == vicinal.__version__
    assert citation["license"] == "BSD-3-Clause"
    assert citation["cff-version"] == "1.2.0"


def test_the_source_distribution_takes_the_citation_and_nothing_that_is_not_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    taken = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"CITATION.cff", "LICENSE", "constraints-oldest.txt"} <= set(taken)
    assert [pattern for pattern in taken if not any(ROOT.glob(pattern))] == []


def test_committed_results_are_whole_runs_of_known_experiments() -> None:
    from vicinal.published import published_experiments, read_results

    records = read_results(DOCS / "results")
    known = {experiment.name for experiment in published_experiments()}
    assert {record["experiment"] for record in records} <= known
    assert len({record["experiment"] for record in records}) == len(records)
    assert all(record["status"] == "ok" and not record["quick"] for record in records)
    assert all(len(record["errors"]) == record["n_folds"] for record in records)
    json.dumps(records, allow_nan=False)


def test_the_results_page_shows_every_record(site: Path) -> None:
    from vicinal.published import figure, read_results, records_citing, signed

    page = text_of(site / "results.html")
    records = records_citing(read_results(DOCS / "results"), ["trivedi2014"])
    assert records
    for record in records:
        assert signed(record["difference"], percent=True) in page
        assert figure(record["error_mean"], None, percent=True) in page


@pytest.mark.parametrize("name", ["results", "results-gradients", "results-extensions"])
def test_a_page_of_results_shows_every_record_it_asks_for(site: Path, name: str) -> None:
    from vicinal.published import figure, read_results, records_citing, select_experiments

    page = text_of(site / f"{name}.html")
    asked = re.findall(r"<!-- results ([\w ]+) -->", (DOCS / f"{name}.md").read_text("utf-8"))
    records = records_citing(read_results(DOCS / "results"), " ".join(asked).split())
    assert records
    for record in records:
        (experiment,) = select_experiments([record["experiment"]])
        percent = experiment.unit != "nmse"
        assert figure(record["error_mean"], None, percent=percent) in page
        assert experiment.error is None or str(experiment.dataset) in page
