"""The two-class CPU 0 model, as methods on a multicore station; stations whose servers share cores."""

from sojourn.solve.special import shared_cores, two_class_station

METHODS = (*two_class_station.METHODS, shared_cores.METHOD)
