from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

DEFAULT_PARAMETERS = {"lang": "en", "page": "1"}
TRACKING_PREFIX = "utm_"


def task_func(url: str, changes: dict) -> str:
    """
    Rewrite the query of a web address. A change replaces every value of its parameter, or adds the parameter;
    a change to None removes it. A parameter in DEFAULT_PARAMETERS which neither the address nor the changes
    mention is added. Parameters whose name starts with TRACKING_PREFIX are removed. In the new query the
    parameters are in alphabetical order, several values of one parameter keep their order, and blank values
    stay. Everything else in the address is kept, the fragment included.

    Parameters:
    - url (str): The address, with or without a query.
    - changes (dict): New values (str, int or None) by parameter.

    Returns:
    - str: The new address.

    Raises:
    - ValueError: If the address has no host, or its scheme is neither http nor https.

    Requirements:
    - urllib.parse

    Example:
    >>> task_func("https://shop.example/find?q=tea+pot&utm_id=7#top", {"page": 2})
    'https://shop.example/find?lang=en&page=2&q=tea+pot#top'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"not a web address: {url!r}")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    mentioned = {name for name, _ in pairs} | set(changes)
    pairs = [(name, value) for name, value in pairs if name not in changes]
    pairs += [(name, str(value)) for name, value in changes.items() if value is not None]
    pairs += [(name, value) for name, value in DEFAULT_PARAMETERS.items() if name not in mentioned]
    kept = sorted(
        (pair for pair in pairs if not pair[0].startswith(TRACKING_PREFIX)), key=lambda pair: pair[0]
    )
    return urlunsplit(parts._replace(query=urlencode(kept)))
