"""A first map of names that a server has, whatever its routes are called."""

from pathlib import Path

from sojourn.observe.prometheus_http import PrometheusServer
from sojourn.observe.series_map import read_map
from sojourn.observe.suggested_map import suggested_map

BASE = "http_server_request_duration_seconds"
ROUTES = ["/", "/*", "/cart", "/cart/", "/cart_2"]


class Names(PrometheusServer):
    def names(self) -> list[str]:
        return [f"{BASE}_count", f"{BASE}_sum"]

    def label_values(self, label: str, metric: str) -> list[str]:
        return ROUTES if label == "http_route" else []


def test_routes_whose_names_are_alike_are_classes_of_their_own(tmp_path: Path) -> None:
    (path := tmp_path / "first.toml").write_text(suggested_map(Names("http://host", "prometheus://host")))
    found = read_map(path).classes
    assert [one.requests for one in found.values()] == [f'{BASE}_count{{http_route="{route}"}}' for route in ROUTES]
