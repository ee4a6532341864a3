"""Events in time: which requests are meant, when it happened, and how many are present, from their begins and ends."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.query.values import Array, Events, Flags


def counted(stays: Sequence[tuple[Array, Array]], window: tuple[float, float]) -> tuple[Array, NDArray[np.int32]]:
    """Of each kind of stay its begins and ends (NaN: it does not end), s. Gives the times (E + 1) at which a number changes or the
    window ends, and the numbers present (E, kinds) between them."""
    start, end = window
    known = [(begin, np.where(np.isnan(left), math.inf, left)) for begin, left in stays]
    moments = np.concatenate([np.concatenate(pair) for pair in known])
    moments = np.unique(moments[(moments > start) & (moments < end)])
    times = np.concatenate([[start], moments, [end]])
    del moments  # of ten million requests 160 MB
    present = np.empty((len(times) - 1, len(known)), np.int32)
    for kind, (begin, left) in enumerate(known):
        came = np.searchsorted(np.sort(begin), times[:-1], "right")
        came -= np.searchsorted(np.sort(left), times[:-1], "right")
        present[:, kind] = came
    return times, present


def entries(inside: Flags) -> Flags:
    """Where a set is entered: inside, and not just before; the beginning of the record is no entry."""
    return np.concatenate([[False], inside[1:] & ~inside[:-1]]) if len(inside) else inside


def kept(requests: pl.DataFrame, events: Events) -> pl.DataFrame:
    """Those of the requests (begin_s, end_s, failed) that are meant."""
    if events.event == "arrivals":
        return requests
    return requests.filter(pl.col("failed") if events.event == "failed" else ~pl.col("failed"))


def happened(requests: pl.DataFrame, events: Events) -> Array:
    """When it did to those that are meant, s; an answer when it ended."""
    of = kept(requests, events)
    own = of["begin_s"] if events.event == "arrivals" else of["end_s"].fill_nan(None).drop_nulls()
    return own.to_numpy()


def stays(requests: pl.DataFrame) -> tuple[Array, Array, Flags]:
    """Begin, end and failed of each."""
    return requests["begin_s"].to_numpy(), requests["end_s"].to_numpy(), requests["failed"].to_numpy()
