"""Benchmarks: `keisei bench board|net|search`. Each module has `main(argv) -> exit code` and prints one table."""
