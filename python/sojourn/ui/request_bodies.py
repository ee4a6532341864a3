"""What a page may ask, as pydantic checks it: kinds, lengths, counts."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.errors import InputError
from sojourn.file_errors import mistake
from sojourn.files.reading import parse_json

MOST_TEXT = 300_000  # characters of a model file
Name = Annotated[str, Field(min_length=1, max_length=1000)]
Names = Annotated[list[Name], Field(min_length=1, max_length=200)]
Width = Annotated[int, Field(ge=200, le=2000)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Values = Annotated[list[Number], Field(min_length=1, max_length=100)]


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class RunRowsRequest(RequestBody):
    names: Names


class ReportRequest(RequestBody):
    names: Names
    width: Width = 760


class CompareRequest(RequestBody):
    a: Names
    b: Names
    width: Width = 760


class ModelTextRequest(RequestBody):
    """A model as its text; `name`: of its file, for errors."""

    name: Name
    text: Annotated[str, Field(max_length=MOST_TEXT)]


class ModelSettingsRequest(ModelTextRequest):
    settings: Annotated[dict[str, Number], Field(max_length=200)] = {}


class MeasuredPoint(RequestBody):
    """Of a run, behind the curves: SI units."""

    load: Number
    response_s: Number | None = None
    response_s_low: Number | None = None
    response_s_high: Number | None = None
    throughput_per_s: Number | None = None
    throughput_per_s_low: Number | None = None
    throughput_per_s_high: Number | None = None
    p50_s: Number | None = None
    p90_s: Number | None = None
    p99_s: Number | None = None


class ObjectiveLimit(RequestBody):
    """An upper limit that the runs were judged by: `figure` is `mean` or a quantile such as `p99`."""

    text: Annotated[str, Field(max_length=200)]
    figure: Annotated[str, Field(max_length=20)]
    limit_s: Annotated[float, Field(allow_inf_nan=False, gt=0)]


class CurvesRequest(ModelSettingsRequest):
    x: Name
    width: Width = 760
    most: Number | None = None
    measured: Annotated[list[MeasuredPoint], Field(max_length=500)] = []
    objectives: Annotated[list[ObjectiveLimit], Field(max_length=4)] = []


class PlanRequest(ModelSettingsRequest):
    """`vary`: path → values; `objective` and `cost` as `sojourn plan` has them."""

    vary: Annotated[dict[Name, Values], Field(min_length=1, max_length=3)]
    objective: Annotated[str, Field(min_length=1, max_length=300)]
    cost: Annotated[str, Field(min_length=1, max_length=300)]
    width: Width = 760


class SaveModelRequest(ModelTextRequest):
    pass


SomeBody = TypeVar("SomeBody", bound=RequestBody)


def read_body(body: bytes, kind: type[SomeBody]) -> SomeBody:
    """InputError for what is no such question."""
    try:
        return kind.model_validate(parse_json(body))
    except ValidationError as error:
        wrong = mistake(error, kind)
        raise InputError(wrong.value, wrong.path or "question", wrong.remedy) from None
    except ValueError:
        raise InputError("no JSON", "question", "reload the page") from None
