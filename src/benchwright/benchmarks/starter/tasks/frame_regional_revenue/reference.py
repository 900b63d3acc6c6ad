import pandas as pd

REQUIRED_COLUMNS = ("region", "units", "price")
SHARE_DECIMALS = 4


def task_func(sales: pd.DataFrame) -> pd.DataFrame:
    """
    Sum up the revenue of each region. The revenue of a row is its units times its price. The share is the
    part which a region has in the total revenue, rounded to SHARE_DECIMALS decimals; when the total is zero
    every share is 0.0. The region with the largest revenue comes first, and regions with equal revenue are in
    alphabetical order. The given frame is not changed.

    Parameters:
    - sales (pd.DataFrame): One row per sale, with at least the columns in REQUIRED_COLUMNS.

    Returns:
    - pd.DataFrame: The columns region, revenue and share, with the index 0, 1, 2 and so on.

    Raises:
    - ValueError: If one of the REQUIRED_COLUMNS is missing.

    Requirements:
    - pandas

    Example:
    >>> sales = pd.DataFrame({"region": ["N", "S", "N"], "units": [1, 3, 2], "price": [10.0, 10.0, 20.0]})
    >>> task_func(sales).values.tolist()
    [['N', 50.0, 0.625], ['S', 30.0, 0.375]]
    """
    missing = [name for name in REQUIRED_COLUMNS if name not in sales.columns]
    if missing:
        raise ValueError("missing columns: " + ", ".join(missing))
    revenue = (sales["units"] * sales["price"]).groupby(sales["region"]).sum()
    result = revenue.rename("revenue").rename_axis("region").reset_index()
    total = result["revenue"].sum()
    if total:
        result["share"] = (result["revenue"] / total).round(SHARE_DECIMALS)
    else:
        result["share"] = 0.0
    return result.sort_values(["revenue", "region"], ascending=[False, True], ignore_index=True)
