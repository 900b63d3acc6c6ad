"""Every text of a site may be anybody's; none of it may run, on any page, in any browser."""

from pathlib import Path
from typing import Any

import pytest
from browsing import Visitor, addresses
from site_pieces import HOSTILE, hostile, site

from benchwright.leaderboard.site import charts
from benchwright.leaderboard.site.build import build_site
from benchwright.leaderboard.site.model import SiteOptions


@pytest.fixture(scope="module")
def folder(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site all of whose texts would do harm."""
    place = tmp_path_factory.mktemp("hostile") / "site"
    with pytest.MonkeyPatch.context() as patched:  # the pictures are looked at in the tests of charts
        patched.setattr(charts, "still_picture", lambda spec, look: "<svg xmlns='http://www.w3.org/2000/svg'/>")
        build_site(site(hostile), place, SiteOptions(hugging_face=True))
    return place


def test_no_text_runs_on_any_page(browser: Any, folder: Path) -> None:
    """Names, statements, answers, messages, sources, links and titles stay text where the page's policy is ignored.

    The policy alone would stop them, so it is switched off: what is tested is that everything is escaped.
    """
    visitor = Visitor(browser, folder, bypass_csp=True)
    for name, (address, ready) in addresses(folder).items():
        page = visitor.open(address, ready)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        if name == "charts 0":
            page.locator(".drawing path[aria-label]").first.hover()
            assert "window.pwned=1" in page.inner_text("#vg-tooltip-element")
        page.wait_for_timeout(30)  # the time an image needs to fail and run its handler
        assert page.evaluate("window.pwned") is None, name
        found = page.evaluate(
            "[...document.querySelectorAll('a')].map(a => a.href).filter(href => !/^(file|https?):/.test(href))"
        )
        assert found == [], name
        assert page.evaluate("document.querySelectorAll('main img[src=x], main script').length") == 0, name
        assert "window.pwned=1" in page.inner_text("body"), name
        assert "49" not in page.title(), name
    visitor.check()
    visitor.context.close()


def test_the_policy_of_a_page_stops_what_would_run(browser: Any, folder: Path) -> None:
    """Should an escape ever be forgotten, scripts inside a page and handlers in its markup do not run either."""
    visitor = Visitor(browser, folder)
    page = visitor.open("methods.html")
    page.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.pwned = 1';
          document.body.append(script);
          const box = document.createElement('div');
          box.innerHTML = '<img src=x onerror="window.pwned=1">';
          document.body.append(box);
        }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None
    assert len(visitor.errors) >= 2
    visitor.context.close()


def test_a_name_is_shown_as_it_is(browser: Any, folder: Path) -> None:
    """Escaping loses nothing: the reader sees the very characters."""
    visitor = Visitor(browser, folder)
    page = visitor.open("index.html", "document.querySelectorAll('#rows tr').length")
    shown = page.eval_on_selector_all("#rows .name", "found => found.map(one => one.textContent)")
    assert shown[0].startswith(HOSTILE + "model ")
    visitor.check()
    visitor.context.close()
