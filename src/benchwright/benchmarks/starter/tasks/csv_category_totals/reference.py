import csv
from decimal import Decimal, InvalidOperation

CATEGORY_COLUMN = "category"
AMOUNT_COLUMN = "amount"
UNKNOWN_CATEGORY = "other"


def task_func(path: str) -> tuple:
    """
    Sum up the amounts of a CSV file (UTF-8, with a heading line) by category. The columns that count are
    CATEGORY_COLUMN and AMOUNT_COLUMN, wherever they stand. Categories are compared without regard to case and
    surrounding white space, and a blank one becomes UNKNOWN_CATEGORY. Amounts are exact decimal numbers.
    A row whose amount is absent or not a finite number is skipped.

    Parameters:
    - path (str): The path of the file.

    Returns:
    - tuple: A dict from the category in lower case to its total (Decimal), ordered by name, and the number of
      skipped rows.

    Raises:
    - KeyError: If the heading lacks one of the two columns.

    Requirements:
    - csv
    - decimal

    Example:
    >>> with open("costs.csv", "w") as file: _ = file.write("category,amount\\nFood,1.10\\nfood,2.20\\nfun,?\\n")
    >>> task_func("costs.csv")
    ({'food': Decimal('3.30')}, 1)
    """
    totals = {}
    skipped = 0
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        for column in (CATEGORY_COLUMN, AMOUNT_COLUMN):
            if column not in (reader.fieldnames or []):
                raise KeyError(column)
        for row in reader:
            category = (row[CATEGORY_COLUMN] or "").strip().lower() or UNKNOWN_CATEGORY
            try:
                amount = Decimal((row[AMOUNT_COLUMN] or "").strip())
            except InvalidOperation:
                skipped += 1
                continue
            if not amount.is_finite():
                skipped += 1
                continue
            totals[category] = totals.get(category, Decimal(0)) + amount
    return {name: totals[name] for name in sorted(totals)}, skipped
