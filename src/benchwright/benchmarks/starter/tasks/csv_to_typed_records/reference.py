import csv
import io
import json

TRUE_WORDS = {"yes", "true"}
FALSE_WORDS = {"no", "false"}


def task_func(text: str) -> str:
    """
    Convert CSV text with a heading line into JSON lines. Fields become the narrowest fitting value: an empty
    field is null; a word in TRUE_WORDS or FALSE_WORDS, in any case, is a truth value; then come whole numbers,
    finite other numbers, and text. A whole number with a leading zero, such as a postal code, stays text.
    White space around a field is removed. The separator may be a comma or a semicolon: it is the one which
    occurs more often in the heading line, and a comma if they are equal.

    Parameters:
    - text (str): The CSV text.

    Returns:
    - str: One JSON object per row, keys in the order of the columns, each line ended by a line feed.

    Raises:
    - ValueError: If a row has more or fewer fields than the heading, or if there is no heading.

    Requirements:
    - csv
    - io
    - json

    Example:
    >>> print(task_func("name;age;member\\nAda;36;yes\\n"), end="")
    {"name": "Ada", "age": 36, "member": true}
    """

    def convert(field):
        word = field.strip()
        if not word:
            return None
        if word.lower() in TRUE_WORDS:
            return True
        if word.lower() in FALSE_WORDS:
            return False
        digits = word.lstrip("+-")
        if digits.isdigit() and len(digits) > 1 and digits[0] == "0":
            return word
        for kind in (int, float):
            try:
                value = kind(word)
            except ValueError:
                continue
            if abs(value) < float("inf"):
                return value
        return word

    heading = text.partition("\n")[0]
    if not heading.strip():
        raise ValueError("there is no heading")
    separator = ";" if heading.count(";") > heading.count(",") else ","
    names, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lines = []
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"expected {len(names)} fields, found {len(row)}")
        record = {name.strip(): convert(field) for name, field in zip(names, row)}
        lines.append(json.dumps(record) + "\n")
    return "".join(lines)
