"""`keisei bench memory`: what a search of many visits adds to the process, beyond net and runtime, cache included.

The resident memory is read before the searcher is made and after the search; peak and tree stand beside it. With no
net a synthetic one answers, whose trees are wider than a real net's; with a net the figure is exact and takes minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.bench.search import evaluator_for, numbers, real_net
from engine.board.position import Position
from engine.evaluator_fakes import HashEvaluator
from engine.search.params import SearchParams
from engine.search.root import Limits
from engine.search.searcher import Searcher
from engine.usage import Parser

MIB = 1 << 20


def resident() -> int:
    """Return the resident memory of this process in bytes; its peak where the system tells no more, 0 for nothing."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def measure(evaluator: Any, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Search one position and return the figures, MiB."""
    position = Position(size)
    evaluator.evaluate(*evaluator.allocate(min(8, evaluator.max_batch), size, size))
    before = resident()
    searcher = Searcher(evaluator, SearchParams(cache_memory=options.cache, batch_size=options.batch_size))
    searcher.set_position(position)
    result = searcher.search(Limits(visits=options.visits))
    after = resident()
    return {
        "size": size,
        "visits": searcher.visits,
        "added": (after - before) / MIB,
        "tree": result.stats.tree_bytes / MIB,
        "cache": options.cache,
        "before": before / MIB,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table, or one JSON object with --json."""
    parser = Parser(prog="keisei bench memory", description="Memory of a long search.")
    parser.add_argument("--net", default="none", help="file or name; none: a synthetic one (none)")
    parser.add_argument("--visits", type=int, default=100_000, help="of the search (%(default)s)")
    parser.add_argument("--sizes", type=numbers, default=[19], help="board sizes (19)")
    parser.add_argument("--cache", type=int, default=64, help="MiB that the evaluation cache may take (%(default)s)")
    parser.add_argument("--batch-size", type=int, default=0, help="leaves in a batch; 0 chooses (0)")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of the net")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda:N")
    parser.add_argument("--precision", default="auto", help="auto, float32, bfloat16, float16 or int8")
    parser.add_argument("--runtime", default="auto", help="auto, openvino or torch")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    found = real_net(options)
    evaluator = HashEvaluator() if found is None else evaluator_for(found[0], options.threads, options)
    rows = [measure(evaluator, size, options) for size in options.sizes]
    if options.json:
        print(json.dumps({"net": evaluator.name, "rows": rows}))
        return 0
    print(f"{evaluator.name}; MiB")
    print("size   visits  added by the search  its tree  cache at most  process before")
    for row in rows:
        print(
            f"{row['size']:4} {row['visits']:8} {row['added']:20.0f} {row['tree']:9.0f} {row['cache']:14}"
            f" {row['before']:15.0f}"
        )
    return 0
