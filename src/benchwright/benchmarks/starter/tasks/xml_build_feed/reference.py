import xml.etree.ElementTree as ET
from datetime import date

FEED_VERSION = "1.1"
MAX_ENTRIES = 5


def task_func(title: str, entries: list) -> str:
    """
    Write a news feed as XML. The root element feed has the attribute version with FEED_VERSION; its children
    are one title and the entries, newest first, MAX_ENTRIES at most. Entries of the same day keep the order in
    which they were given. Each element entry has the attribute date (such as "2024-05-01") and the children
    headline and, for each tag of the entry in alphabetical order, tag.

    Parameters:
    - title (str): The title of the feed.
    - entries (list): Dicts with headline (str), date (datetime.date) and optionally tags (list of str).

    Returns:
    - str: The XML without an XML declaration and without white space between elements.

    Raises:
    - ValueError: If the title is blank.
    - TypeError: If the date of an entry is not a date.

    Requirements:
    - xml.etree.ElementTree
    - datetime

    Example:
    >>> task_func("News", [{"headline": "Rain", "date": date(2024, 5, 1)}])
    '<feed version="1.1"><title>News</title><entry date="2024-05-01"><headline>Rain</headline></entry></feed>'
    """
    if not title.strip():
        raise ValueError("the title is blank")
    for entry in entries:
        if not isinstance(entry["date"], date):
            raise TypeError("the date of an entry must be a date")
    feed = ET.Element("feed", version=FEED_VERSION)
    ET.SubElement(feed, "title").text = title
    for entry in sorted(entries, key=lambda item: item["date"], reverse=True)[:MAX_ENTRIES]:
        element = ET.SubElement(feed, "entry", date=entry["date"].strftime("%Y-%m-%d"))
        ET.SubElement(element, "headline").text = entry["headline"]
        for tag in sorted(entry.get("tags", [])):
            ET.SubElement(element, "tag").text = tag
    return ET.tostring(feed, encoding="unicode")
