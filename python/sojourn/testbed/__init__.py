"""Services that sojourn can start by itself, by name."""

from sojourn.testbed.web import WebTestbed

TESTBEDS = {"web": WebTestbed}

__all__ = ["TESTBEDS", "WebTestbed"]
