"""Matches between two GTP engines: `keisei match`. An app on top of the engine, which never imports it."""
