"""A study with several model files: averaged where the runs cannot separate them."""

from __future__ import annotations

from pathlib import Path

from test_engine_features import FREE, STUDY, done

from sojourn.fit import FittedModel


def test_rivals_that_cannot_be_told_apart_are_averaged_and_the_average_counts(tmp_path: Path) -> None:
    """At a third of saturation nothing tells a queue from a queue and a delay."""
    delayed = FREE.replace(
        "[demands_s]", '[stations.net]\nkind = "delay"\n[demands_s]\nnet = { user = { free = true, low = 0 } }'
    )
    (tmp_path / "delayed.toml").write_text(delayed)
    text = STUDY.replace("[10, 20, 30, 40]", "[6, 10, 14, 18]").replace('"wrong.toml"', '"delayed.toml", "auto"')
    text = text.replace("hold_out = { rate_per_s = [20.0] }", "")
    text += '\n[[predict]]\nname = "later"\nvary = { rate_per_s = [36] }\n'
    text += '[choose]\nobjective = "response_time"\nset = { rate_per_s = 18 }\nvary = { workers = [1, 2] }\n'
    result = done(tmp_path, text)
    found = result.findings
    assert found.rivals.best == "averaged" and list(found.rivals.fitted) == ["averaged", "shop", "delayed", "auto"]
    best = found.fitted
    assert isinstance(best, FittedModel) and len(best.alternatives) >= 2 and "cannot separate them" in found.why
    told = best.predict({"rate_per_s": 36.0, "workers": 1}, 0.9)
    ends = told.interval("response_time")
    (row,) = found.blind.filter(found.blind["metric"] == "response_time").iter_rows(named=True)
    assert (row["model"], row["predicted"], (row["low"], row["high"])) == (
        "averaged",
        told.value("response_time"),
        ends,
    )
    assert {row["model"] for row in found.evaluation.iter_rows(named=True)} == {"averaged", "shop", "delayed", "auto"}
    assert FittedModel.read(tmp_path / "out/fitted.toml").alternatives
    assert not FittedModel.read(tmp_path / "out/fitted-shop.toml").alternatives
    assert [one.model for one in found.choices] == ["averaged", "shop", "delayed", "auto"]
    assert any(line.startswith("blind error") and "delayed" in line for line in result.verdict)
