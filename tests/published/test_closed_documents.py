"""Closed networks of the documents through the public API: Telesto (chapter 3) and ASL (Tables 17 and 18).

Expected values: data/telesto_*.csv and data/asl_noq_*.csv (recomputed with multiprecision, see the errata).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sojourn.model import Closed, Delay, Model, Queue, replaced
from sojourn.solve import solve, sweep
from sojourn_cases import messages

TELESTO = Path(messages.__file__).parent / "telesto.toml"
DATA = Path(__file__).parent / "data"
TIMES_S = {  # Telesto Table 1.1 as measured, and as rounded in Table 1.3: dispatcher, worker in, database, worker out
    "Table 1.1": (12e-6, 14e-6, 8.059e-3, 22e-6),
    "Table 1.3": (10e-6, 10e-6, 8.01e-3, 20e-6),
}
NETWORK_S = 2 * 1.30e-3


def rows(name: str) -> list[dict[str, float]]:
    return pl.read_csv(DATA / f"{name}.csv", infer_schema_length=None).to_dicts()


def telesto(source: str, workers: int, connections: int, clients: int, think_s: float) -> Model:
    """The model file of the message study, with the numbers of the report in place of measured ones."""
    dispatcher, inside, database, out = TIMES_S[source]
    given = {
        "network_s": NETWORK_S, "dispatch_s": dispatcher, "parse_s": inside, "database_s": database, "respond_s": out, "own_s": think_s,
        "empty_share": 0.0, "workers": workers, "connections": connections,
    }  # fmt: skip
    paths: dict[str, float] = {f"parameters.{name}": value for name, value in given.items()}
    return replaced(Model.read(TELESTO), {**paths, "classes.client.population": clients})


@pytest.mark.parametrize("row", rows("telesto_ldmva"), ids=lambda r: "-".join(map(str, list(r.values())[:4])))
def test_telesto_load_dependent_network(row: dict[str, float]) -> None:
    size = int(row["workers_and_connections"])
    think_s = row["think_ms"] / 1e3
    m = solve(telesto(str(row["service_times_from"]), size, size, int(row["clients"]), think_s))
    assert m.status == "ok"
    assert m.value("throughput") == pytest.approx(row["X_per_s"], rel=1e-9)
    assert m.value("response_time") == pytest.approx(row["R_ms"] / 1e3, rel=1e-9)
    for station in ("dispatcher", "worker_in", "database", "worker_out"):
        expected = row[f"U_{station}_pct"] / 100
        assert m.value("utilisation", station) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("row", rows("telesto_connection_sweep"), ids=lambda r: str(r["connections"]))
@pytest.mark.parametrize("think_ms", [0, 25.8])
def test_telesto_connection_sweep(row: dict[str, float], think_ms: float) -> None:
    m = solve(telesto("Table 1.1", 25, int(row["connections"]), 90, think_ms / 1e3))
    name = f"Z{think_ms:g}"
    assert m.value("throughput") == pytest.approx(row[f"X_{name}_per_s"], rel=1e-9)
    assert m.value("response_time") == pytest.approx(row[f"R_{name}_ms"] / 1e3, rel=1e-9)


def test_telesto_maximum_and_table_2_1_as_published() -> None:
    """Throughput 2792/s; utilisation 2.7, 3.1, 100 and 4.8 % (Table 2.1): both without think time (errata)."""
    assert round(solve(telesto("Table 1.1", 25, 25, 90, 0.0)).value("throughput")) == 2792
    m = solve(telesto("Table 1.1", 20, 20, 90, 0.0))
    found = [m.value("utilisation", s) for s in ("dispatcher", "worker_in", "database", "worker_out")]
    assert [round(100 * u, 1) for u in found] == [2.7, 3.1, 100.0, 4.8]


def asl(row: dict[str, float]) -> Model:
    """Two middlewares serve every second request each; 64 workers in each, each with a queue of its own (ASL 7.3)."""
    servers = 2 if row["S_netthread2_ms"] is not None else 1
    share = 1 / servers
    stations: list[Queue | Delay] = [Delay("network")]
    demands = {"network": {"client": row["S_network_ms"] / 1e3}}
    if row["extra_client_delay_ms"] is not None:
        stations.append(Delay("client"))
        demands["client"] = {"client": row["extra_client_delay_ms"] / 1e3}
    service, visits = {}, {}
    for j in range(1, servers + 1):
        names = [f"net{j}", *(f"worker{j}-{i}" for i in range(64))]
        times = [row[f"S_netthread{j}_ms"], *[row[f"S_worker{j}_ms"]] * 64]
        shares = [share, *[share / 64] * 64]
        stations += [Queue(name) for name in names]
        service |= {name: {"client": t / 1e3} for name, t in zip(names, times, strict=True)}
        visits |= {name: {"client": v} for name, v in zip(names, shares, strict=True)}
    number = int(row["N_clients"])
    return Model(stations, [Closed("client", number)], demands_s=demands, service_s=service, visits=visits)


@pytest.mark.parametrize(
    ("given", "row"),
    list(zip(rows("asl_noq_inferred_parameters"), rows("asl_noq_mva"), strict=True)),
    ids=lambda r: str(r["case"]),
)
def test_asl_tables_17_and_18(given: dict[str, float], row: dict[str, float]) -> None:
    m = solve(asl(given), "mva")
    assert m.value("throughput") == pytest.approx(row["X_per_s"], rel=1e-9)
    assert m.value("queue_length", "network") == pytest.approx(row["U_network"], rel=1e-9)
    outside = m.value("residence_time", "network", "client")
    if given["extra_client_delay_ms"] is not None:
        outside += m.value("residence_time", "client", "client")
    assert m.value("response_time") - outside == pytest.approx(row["R_ms"] / 1e3, rel=1e-9)
    assert m.value("throughput", "worker1-0") == pytest.approx(row["X_worker_per_s"], rel=1e-9)
    for j in (1, 2):
        if row[f"U_netthread{j}"] is not None:
            assert m.value("utilisation", f"net{j}") == pytest.approx(row[f"U_netthread{j}"], rel=1e-9)
            assert m.value("utilisation", f"worker{j}-63") == pytest.approx(row[f"U_worker{j}"], rel=1e-9)


def test_a_sweep_over_clients_is_each_solution() -> None:
    model = telesto("Table 1.1", 25, 25, 90, 0.0258)
    numbers = [1, 10, 90, 200]
    table = sweep(model, "classes.client.population", numbers)
    for n in numbers:
        alone = solve(telesto("Table 1.1", 25, 25, n, 0.0258)).value("throughput")
        found = table.value("throughput", **{"classes.client.population": n})
        assert found == pytest.approx(alone, rel=1e-13)
