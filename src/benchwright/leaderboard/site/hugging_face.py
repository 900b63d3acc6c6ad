"""The README with which a Hugging Face Space serves a folder of pages."""

import json

from benchwright.leaderboard.site.model import SiteData


def space_card(data: SiteData) -> str:
    """Front matter for ``sdk: static`` and a few words; the title may be anybody's text and is quoted."""
    title = json.dumps(data.title.encode("utf-8", errors="replace").decode("utf-8"), ensure_ascii=False)
    tables = "\n".join(f"- {_plain(table.title)} ({len(table.rows)})" for table in data.tables)
    return (
        "---\n"
        f"title: {title}\n"
        "sdk: static\n"
        "app_file: index.html\n"
        "colorFrom: blue\n"
        "colorTo: gray\n"
        "pinned: false\n"
        "tags:\n"
        "  - leaderboard\n"
        "---\n\n"
        "A leaderboard made with `bw site build --hf-space`. It is a folder of plain pages and needs no server.\n\n"
        f"{tables}\n"
    )


def _plain(text: str) -> str:
    """One line without what Markdown or HTML would read as markup."""
    line = " ".join(text.encode("utf-8", errors="replace").decode("utf-8").split())
    return "".join(f"&#{ord(one)};" if one in "<>&[]()*_`#!|\\~" else one for one in line)
