"""Order statistics of small samples, without surprises on empty ones."""

from collections.abc import Sequence
from math import sqrt


def quantile(values: Sequence[float], share: float) -> float | None:
    """The value below which ``share`` (0…1) of ``values`` lie, interpolated; None if empty.

    Linear interpolation between closest ranks: definition 7 of Hyndman and Fan, "Sample
    quantiles in statistical packages", The American Statistician 50 (1996).
    """
    if not values:
        return None
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    lower = int(position)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (ordered[upper] - ordered[lower]) * (position - lower)


def median(values: Sequence[float]) -> float | None:
    """The middle value; None if there is none."""
    return quantile(values, 0.5)


def whole_median(values: Sequence[int]) -> int | None:
    """The median rounded to an integer, for times and sizes; None if there is none."""
    middle = median(values)
    return None if middle is None else round(middle)


def variation(values: Sequence[float]) -> float | None:
    """Coefficient of variation: standard deviation over mean; None under two values or mean 0."""
    if len(values) < 2:  # noqa: PLR2004 - a deviation needs two
        return None
    mean = sum(values) / len(values)
    if mean == 0:
        return None
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) / mean


def close_share(values: Sequence[float], centre: float, tolerance: float) -> float | None:
    """Share of ``values`` within ``tolerance`` of ``centre``; None if there are none."""
    if not values:
        return None
    return sum(abs(value - centre) <= tolerance for value in values) / len(values)
