from ssediag.measure.quantiles import close_share, median, quantile, variation


def test_quantiles_interpolate_between_the_closest_ranks() -> None:
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
    assert quantile([10, 20, 30], 0.95) == 29.0
    assert quantile([7], 0.9) == 7


def test_nothing_has_no_quantile() -> None:
    assert median([]) is None
    assert variation([5]) is None
    assert variation([0, 0]) is None
    assert close_share([], 1, 1) is None


def test_variation_is_the_sample_deviation_over_the_mean() -> None:
    assert variation([9, 11]) == 2**0.5 / 10


def test_close_share_counts_both_edges_of_the_tolerance() -> None:
    assert close_share([8, 10, 12, 13], 10, 2) == 0.75
