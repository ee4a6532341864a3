"""Files that other tools wrote of a service under load → one type.

read_observations   the file's format is found from what is in it; `formats.py` lists them, one module a format
Observation         what a file tells, and what it cannot know; `Requests` and `WindowSeries` in it
"""

from sojourn.readers.formats import NAMES, read_observations
from sojourn.readers.observation import Observation, Requests, WindowSeries

__all__ = ["NAMES", "Observation", "Requests", "WindowSeries", "read_observations"]
