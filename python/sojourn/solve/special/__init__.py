"""The two-class CPU 0 model, as methods on a multicore station."""

from sojourn.solve.special import two_class_station

METHODS = two_class_station.METHODS
