"""Files that other tools wrote of a service under load → one type.

Observation   what a file tells; `Requests` and `Windows` in it
"""

from sojourn.readers.observation import Observation, Requests, Windows

__all__ = ["Observation", "Requests", "Windows"]
