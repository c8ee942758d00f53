"""Measuring what the engine says against what is known: `keisei evaluate`. An application; nothing imports it."""
