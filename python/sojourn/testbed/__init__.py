"""Services that sojourn can start by itself, by name."""

from sojourn.testbed.web import WebTestbed

SERVICES = {"web": WebTestbed}

__all__ = ["SERVICES", "WebTestbed"]
