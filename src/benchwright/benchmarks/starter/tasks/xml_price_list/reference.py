import xml.etree.ElementTree as ET
from decimal import Decimal

DEFAULT_CURRENCY = "EUR"


def task_func(document: str) -> list:
    """
    Read the items of an XML price list. Items are the elements item anywhere in the document. The name is the
    text of the child name with surrounding white space removed; the price is the text of the child price, its
    currency the attribute currency of price, or else DEFAULT_CURRENCY. An item without a name or without a
    price is left out. The cheapest item comes first; items of the same price keep the order of the document,
    and currencies are not converted.

    Parameters:
    - document (str): The XML text.

    Returns:
    - list: Dicts with the keys name (str), price (Decimal) and currency (str).

    Raises:
    - ValueError: If the document is not well-formed XML.

    Requirements:
    - xml.etree.ElementTree
    - decimal

    Example:
    >>> task_func("<list><item><name>Pen</name><price>1.20</price></item></list>")
    [{'name': 'Pen', 'price': Decimal('1.20'), 'currency': 'EUR'}]
    """
    try:
        root = ET.fromstring(document)
    except ET.ParseError as error:
        raise ValueError(f"not well-formed: {error}") from error
    items = []
    for item in root.iter("item"):
        name = (item.findtext("name") or "").strip()
        price = item.find("price")
        if not name or price is None or not (price.text or "").strip():
            continue
        currency = price.get("currency", DEFAULT_CURRENCY)
        items.append({"name": name, "price": Decimal(price.text.strip()), "currency": currency})
    return sorted(items, key=lambda entry: entry["price"])
