"""docs/search.md names every setting of the search, with its default."""

import re
from pathlib import Path

from engine import config
from engine.search.params import SearchParams

PAGE = Path(__file__).resolve().parents[2] / "docs" / "search.md"


def test_every_setting_is_in_the_table_with_its_default():
    rows = {}
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        alone = re.fullmatch(r"`\w+`(, `\w+`)*", cells[0])  # else a row of what was measured
        keys = re.findall(r"`(\w+)`", cells[0]) if alone else []
        if keys:
            rows.update(dict.fromkeys(keys, cells[1]))
    known = config.describe(SearchParams)
    assert set(rows) == set(known)
    for key, about in known.items():
        default = config.to_text(about.default)
        short = default.removesuffix(".0")
        assert re.search(rf"(?<![\w.]){re.escape(short)}(\.0)?(?![\w.])", rows[key]), (key, default, rows[key])
