"""`Model`: what a user writes. `Model.network` is the same thing as arrays, which is what methods and simulator take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.model import toml_file
from sojourn.model.check_model import check
from sojourn.model.lowering import lower
from sojourn.model.model_data import ModelData
from sojourn.model.network_arrays import Network


@dataclass(frozen=True)
class Model(ModelData):
    """Stations, classes, and one of: `demands_s`; `service_s` with `visits`; `service_s` with `routing`.

    `demands_s[station][class]` is the total over all visits, `service_s[station][class]` of one visit: a mean in s
    (exponential) or a distribution. `visits[station][class]` defaults to 1 where there is a time.
    `routing[class][from][to]` is a probability, or `routing[class][from]` is a `Choice`. `source` and `exit` are where
    an open class comes in and leaves, `think` where a closed one thinks; "station/class" as `to` changes the class.
    Raises ModelError, which names the value, the place and the remedy.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self, lambda: self.network)

    @cached_property
    def network(self) -> Network:
        """The arrays that methods and simulator work on; made once."""
        return lower(self)

    @staticmethod
    def read(path: Path | str) -> Model:
        """The model of a TOML file; ModelError names file, line, key, value and remedy."""
        return toml_file.read(path, Model)

    @staticmethod
    def parse(text: str, place: str = "model") -> Model:
        """The model that a TOML text is; `place` stands for its file in errors."""
        return toml_file.parse(text, Model, place)

    def to_toml(self) -> str:
        """The text of its file; `Model.parse` gives an equal model back."""
        return toml_file.to_toml(self)

    def write(self, path: Path | str) -> None:
        """Writes the file that `Model.read` reads."""
        toml_file.write(self, path)

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: self.__dict__[name] for name in self.__dataclass_fields__
        }  # what was made is made again when asked for


def as_model(it: ModelData | Path | str) -> Model:
    """The model itself, or that of a file. InputError for anything else."""
    if isinstance(it, str | Path):
        return Model.read(it)
    if not isinstance(it, Model):
        raise InputError(f"a {type(it).__name__}", "model", "give a Model, or the path of a model file")
    return it
