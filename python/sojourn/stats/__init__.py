"""Statistics of series that no other room owns.

Map: `batch_means` intervals of correlated series, measured and simulated · `stationarity` whether a series has a trend · `quantiles`
with intervals · `rank_correlation` of two series · `circular_shift` whether two series go together by more than chance.
"""
