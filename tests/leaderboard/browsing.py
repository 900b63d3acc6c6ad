"""A real browser for the tests of pages, and what is asked of every page."""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = [
    "--no-sandbox",  # containers have no user namespaces to spare; the pages are ours
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGES = ("index", "charts", "heatmap", "compare", "model", "task", "methods", "downloads")


def chromium() -> str:
    """The browser's path; skips the test where there is none."""
    pytest.importorskip("playwright")
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


@contextmanager
def launched() -> Iterator[Any]:
    """A browser that is closed with the block: its event loop must not outlive it, other tests have their own."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Pages of one site in one browser context; remembers what went wrong on any of them."""

    def __init__(self, browser: Any, folder: Path, **context: Any) -> None:
        self.folder = folder
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 850}, **context})
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.errors.append(text)

    def open(self, address: str, ready: str = "") -> Any:
        """Go to an address of the site from anywhere, wait until the expression holds, hand back the page."""
        self.page.goto("about:blank")
        self.page.goto(f"file://{self.folder}/{address}")
        if ready:
            self.wait(ready)
        return self.page

    def wait(self, expression: str) -> None:
        """Until an expression holds; not by the browser's own waiting, which a page's policy against eval forbids."""
        from playwright.sync_api import Error

        end = time.monotonic() + 120
        while True:
            try:
                if self.page.evaluate(f"Boolean({expression})"):
                    return
            except Error:
                if time.monotonic() > end:
                    raise  # before that, the page is on its way to another one
            assert time.monotonic() < end, f"{expression} does not hold; errors: {self.errors}"
            self.page.wait_for_timeout(10)

    def check(self) -> None:
        """Nothing was complained of, and nothing left this machine."""
        assert not self.errors, self.errors
        strangers = [url for url in self.requests if not url.startswith(("file://", "about:", "data:"))]
        assert not strangers, strangers


def data_of(folder: Path, name: str) -> Any:
    """What the site's data file of that name holds."""
    text = (folder / "data" / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("]=") + 2 : text.rindex(";")])


def addresses(folder: Path) -> dict[str, tuple[str, str]]:
    """Every page with something on it, and the expression that holds when it is drawn.

    The second table's are of the kinds of the first's and are left out, to save time.
    """
    index = data_of(folder, "index")
    found = {
        "methods": ("methods.html", ""),
        "downloads": ("downloads.html", ""),
        "task": ("task.html#/bigcodebench/Task/3", "document.body.dataset.shown"),
        "patch task": ("task.html#/swebench-verified/org__Task-3", "document.body.dataset.shown"),
    }
    for number, table in enumerate(index["tables"]):
        if number == 1:
            continue
        entry = data_of(folder, f"table-{table['id']}")["rows"][0]["entry"][:16]
        found[f"index {number}"] = (f"index.html#t={table['id']}", "document.querySelectorAll('#rows tr').length")
        found[f"charts {number}"] = (f"charts.html#t={table['id']}", "document.body.dataset.drawn")
        found[f"model {number}"] = (f"model.html#/{table['id']}/{entry}", "document.body.dataset.shown")
        if table["outcomes"]:
            found[f"heatmap {number}"] = (
                f"heatmap.html#t={table['id']}",
                "document.getElementById('map').dataset.drawn",
            )
            found[f"compare {number}"] = (f"compare.html#t={table['id']}", "document.body.dataset.compared")
    return found
