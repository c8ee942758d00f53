"""Benchmarks: `keisei bench board|net|search|many|memory`. Each has `main(argv) -> exit code` and prints one table."""
