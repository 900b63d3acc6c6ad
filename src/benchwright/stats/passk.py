"""Unbiased estimates of pass@k (one of k is right) and pass^k (all k are) from n samples of which c are right."""

import math

# Up to here the estimate is a quotient of two integers, rounded once.  The worst case takes 50 microseconds;
# for much larger n the integers have more digits than the product below has factors.
_EXACT_UP_TO = 1000


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that one of k samples is right, drawn without replacement from n of which c are right.

    Equals ``1 - C(n - c, k) / C(n, k)`` (Chen et al., arXiv:2107.03374), and ``c / n`` for k = 1.
    Raises `ValueError` unless ``0 <= c <= n`` and ``1 <= k <= n``.
    """
    if not 0 <= c <= n:
        raise ValueError(f"expected 0 <= c <= n, got c={c} and n={n}")
    if not 1 <= k <= n:
        raise ValueError(f"expected 1 <= k <= n, got k={k} and n={n}: pass@k needs at least k samples")
    if n - c < k:
        return 1.0
    if k == 1:
        return c / n
    if n <= _EXACT_UP_TO:
        draws = math.comb(n, k)
        return (draws - math.comb(n - c, k)) / draws
    # C(n-c, k) / C(n, k) is a product of k factors and, by symmetry, of c factors: take the shorter.  Summing
    # logarithms keeps the relative precision of results near 0, which 1 - product would lose.
    fewer, more = sorted((k, c))
    return -math.expm1(math.fsum(math.log1p(-more / (n - step)) for step in range(fewer)))


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The chance that k samples are all right, drawn without replacement from n of which c are right: pass^k.

    Equals ``C(c, k) / C(n, k)`` (Yao et al., arXiv:2406.12045), and ``c / n`` for k = 1.  Raises `ValueError` unless
    ``0 <= c <= n`` and ``1 <= k <= n``.
    """
    if not 0 <= c <= n:
        raise ValueError(f"expected 0 <= c <= n, got c={c} and n={n}")
    if not 1 <= k <= n:
        raise ValueError(f"expected 1 <= k <= n, got k={k} and n={n}: pass^k needs at least k samples")
    return math.comb(c, k) / math.comb(n, k)
