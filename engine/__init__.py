"""Keisei: a GTP Go engine that plays, and judges positions."""

__version__ = "0.1.0"
