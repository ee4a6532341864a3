"""Services that sojourn can start by itself, and a virtual host that it can simulate, by name."""

from typing import Any

from sojourn.testbed.virtual import VirtualTestbed
from sojourn.testbed.web import WebTestbed

SERVICES = {"web": WebTestbed}
TESTBEDS: dict[str, Any] = {**SERVICES, "virtual": VirtualTestbed}  # the second is simulated: nothing is started

__all__ = ["SERVICES", "TESTBEDS", "VirtualTestbed", "WebTestbed"]
