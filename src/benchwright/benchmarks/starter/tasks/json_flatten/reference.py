import json


def task_func(document: str, separator: str = ".") -> dict:
    """
    Flatten a JSON document into one level. The key of a value is made of the object keys and list positions
    (from 0) which lead to it, joined by the separator. An empty object or list stays as a value. A document
    that is neither an object nor a list has the key "".

    Parameters:
    - document (str): The JSON text.
    - separator (str): What stands between the parts of a key. Default is ".".

    Returns:
    - dict: The values by their keys, in the order of the document.

    Raises:
    - ValueError: If document is not JSON, or if two values would have the same key.

    Requirements:
    - json

    Example:
    >>> task_func('{"a": {"b": 1}, "c": [true, null]}')
    {'a.b': 1, 'c.0': True, 'c.1': None}
    >>> task_func('[[1], {}]', "/")
    {'0/0': 1, '1': {}}
    """
    flat = {}

    def visit(value, parts):
        if isinstance(value, dict) and value:
            children = value.items()
        elif isinstance(value, list) and value:
            children = ((str(position), item) for position, item in enumerate(value))
        else:
            key = separator.join(parts)
            if key in flat:
                raise ValueError(f"two values have the key {key!r}")
            flat[key] = value
            return
        for name, child in children:
            visit(child, parts + [name])

    visit(json.loads(document), [])
    return flat
