"""The report page in a real browser: it opens, is quiet, can be sorted, read and printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vicinal.report import Comparison

# The colour of every piece of text against the first opaque colour behind it.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parse = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data);
  };
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) =>
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    if (element.closest("script, title, .panel svg")) continue;  // map labels have a halo
    const style = getComputedStyle(element);
    const ink = parse(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [luminance(ink), luminance(behind(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), walker.currentNode.textContent.trim()]);
  }
  return found;
}"""
SPILLING = """() => Array.from(document.querySelectorAll("main *"))
  .filter((e) => !e.closest(".scroller, svg, .hidden") && e.checkVisibility())
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5)
  .map((e) => `${e.tagName}.${e.className}`)"""


def column(page: Any, number: int) -> list[str]:
    """A column of the results, as shown from top to bottom."""
    cells = page.locator(f"#results tbody tr > :nth-child({number + 1})").all_inner_texts()
    return [text.replace("−", "-").split()[0] if text.strip() else "" for text in cells]


def numbers(texts: list[str]) -> list[float]:
    return [float(text) for text in texts if text not in ("–", "")]


@pytest.mark.parametrize("name", ["digits", "wine", "diabetes"])
def test_the_page_opens_without_complaint_and_asks_the_network_for_nothing(
    name: str, open_report: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    opened = open_report(request.getfixturevalue(f"{name}_comparison"))
    assert opened.page.title().startswith(name)
    assert opened.page.locator("h1").inner_text().endswith(".")
    assert opened.complaints == []
    assert [url for url in opened.requests[1:] if not url.startswith("data:")] == []


def test_every_plot_and_picture_says_in_words_what_it_shows(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    page = open_report(digits_comparison).page
    plots = page.locator("figure svg:not([aria-hidden=true]), figure img, figure [role=img]")
    assert plots.count() == 5  # curves, two maps, relevance, spectrum
    for i in range(plots.count()):
        plot = plots.nth(i)
        words = plot.get_attribute("aria-label") or plot.get_attribute("alt") or ""
        assert len(words.split()) > 8
        assert any(letter.isdigit() for letter in words)
    for svg in page.locator("svg:not([aria-hidden=true])").all():
        assert svg.get_attribute("role") == "img"
    pictures = page.locator("img")
    assert pictures.count() > 20
    for i in range(pictures.count()):
        assert pictures.nth(i).get_attribute("alt")
        assert pictures.nth(i).evaluate("img => img.complete && img.naturalWidth") >= 8


def test_the_table_sorts_by_number_in_both_directions_and_keeps_failures_last(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    page = open_report(digits_comparison).page
    n_failed = sum(row.status == "failed" for row in digits_comparison.rows)
    for heading, number in (("k", 1), ("Error", 2), ("Gain", 3), ("p", 4)):
        head = page.locator("#results thead th").nth(number)
        assert head.inner_text().startswith(heading)
        for direction in ("ascending", "descending"):
            head.get_by_role("button").click()
            assert head.get_attribute("aria-sort") == direction
            shown = column(page, number)[:-n_failed]
            values = numbers(shown)
            assert values == sorted(values, reverse=direction == "descending")
            assert len(set(values)) > 1
            assert shown[: len(values)] == [text for text in shown if text != "–"]
            assert column(page, 0)[-n_failed:] == ["NCA"] * n_failed
    assert page.locator("th[aria-sort]:not([aria-sort=none])").count() == 1


def test_fifteen_sorts_after_seven_not_after_one(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    page = open_report(digits_comparison).page
    page.get_by_role("button", name="k", exact=True).click()
    assert column(page, 1)[:8] == ["1", "1", "3", "3", "7", "7", "15", "15"]


def test_the_table_sorts_from_the_keyboard_and_tells_screen_readers(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    page = open_report(digits_comparison).page
    button = page.locator("#results thead th").nth(0).get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    assert column(page, 0)[:5] == ["Euclidean"] * 4 + ["LDA"]
    assert page.get_by_role("status").text_content() == "Sorted by Method, ascending"
    page.keyboard.press("Space")
    assert column(page, 0)[:5] == ["LDA"] * 4 + ["Euclidean"]


@pytest.mark.parametrize("name", ["digits", "wine", "diabetes", "portrayed_diabetes"])
@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_spills_sideways_on_a_small_screen(
    width: int, name: str, open_report: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    page = open_report(request.getfixturevalue(f"{name}_comparison"), width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(SPILLING) == []


def test_long_names_do_not_break_the_phone_layout(
    wine_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    name = "a_name_without_any_place_to_break_" * 8
    exhibit = wine_comparison.exhibits[0]
    exhibit = replace(
        exhibit,
        title=name,
        feature_names=tuple(f"{i}{name}" for i in range(13)),
        map_targets=np.array([f"{label} {name}" for label in exhibit.map_targets]),
        examples=tuple(
            replace(e, label=name, predicted_after=name, values=((name, "1"),))
            for e in exhibit.examples
        ),
    )
    rows = tuple(replace(row, title=name, notes=(name,)) for row in wine_comparison.rows)
    long = replace(
        wine_comparison, dataset=name, rows=rows, exhibits=(exhibit,), citation=name, notes=(name,)
    )
    page = open_report(long, width=390).page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate(SPILLING) == []


def test_dark_mode_turns_the_paper_dark(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        page = open_report(digits_comparison, scheme=scheme).page
        colours[scheme] = page.evaluate(
            """() => {
                 const style = (found) => getComputedStyle(document.querySelector(found));
                 return [getComputedStyle(document.body).backgroundColor, style(".dots").stroke,
                         style(".drawn [style*='fill: var(--c0)']").fill]; }"""
        )
    paper = {s: sum(map(int, c[0][4:-1].split(", "))) / 3 for s, c in colours.items()}
    assert paper["light"] > 240
    assert paper["dark"] < 30
    assert all(a != b for a, b in zip(colours["light"], colours["dark"], strict=True))


def test_drawings_say_what_they_show_folded_away_or_not(
    portrayed_digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    opened = open_report(portrayed_digits_comparison)
    page = opened.page
    assert opened.complaints == []
    assert page.locator(".drawn").count() == 1 + 2 * 4  # errors; LDA, and folded away EGOP
    for svg in page.locator(".drawn svg").all():
        words = svg.get_attribute("aria-label") or ""
        assert len(words.split()) > 8
    page.locator("summary").last.click()
    assert page.locator(".drawn").last.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_keeps_its_contrast(
    scheme: str, digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    contrasts = open_report(digits_comparison, scheme=scheme).page.evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []


def test_pressing_a_class_shows_it_alone_and_again_shows_all(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    page = open_report(digits_comparison).page
    button = page.locator(".classes").get_by_role("button", name="7", exact=True)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    dim = page.locator(".dots.dim").evaluate_all("es => es.map(e => e.dataset.code)")
    lit = page.locator(".dots:not(.dim)").evaluate_all("es => es.map(e => e.dataset.code)")
    assert set(lit) == {"7"}
    assert set(dim) == set("012345689")
    button.click()
    assert page.locator(".dim").count() == 0


def test_hostile_names_are_shown_as_text_and_never_run(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    evil = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>\"'&{{ 7 * 7 }}"
    opened = open_report(replace(digits_comparison, dataset=evil, citation=evil, notes=(evil,)))
    assert opened.page.evaluate("window.hit") is None
    assert opened.page.locator(".dataset").inner_text() == evil
    assert opened.complaints == []


def test_other_methods_unfold_and_are_printed_in_full(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    exhibit = digits_comparison.exhibits[0]
    other = replace(exhibit, method="other", title="Other")
    page = open_report(replace(digits_comparison, exhibits=(other, exhibit))).page
    assert page.locator("h2", has_text="learned").all_inner_texts()[0] == "What LDA learned"
    hidden = page.locator("#method-2 .maps")
    assert not hidden.is_visible()
    page.locator("summary").click()
    assert hidden.is_visible()
    page.locator("summary").click()
    assert len(page.pdf()) > 50_000
    assert hidden.is_visible()


def test_paper_is_white_whatever_the_screen(
    digits_comparison: Comparison, open_report: Callable[..., Any]
) -> None:
    page = open_report(digits_comparison, scheme="dark", width=720).page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") == 720
    assert min(ratio for ratio, _ in page.evaluate(CONTRASTS)) >= 4.5
