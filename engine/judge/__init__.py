"""Judges positions: which stones are dead, what is territory, dame or seki, what the score is, what is still open.

`judge(position, source)` answers once, `Judge(source)` remembers. Both give a `Judgment`, plain data in Black's view.
Names are imported when they are asked for, so that the settings can be read without numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.judge.net_judge import Judge, judge
    from engine.judge.settings import JudgeSettings
    from engine.judge.types import (
        ChainStatus,
        Group,
        Judgment,
        OpenItem,
        Opinion,
        OpinionSource,
        SideScore,
        Status,
    )

_WHERE = {
    "Judge": "net_judge",
    "judge": "net_judge",
    "JudgeSettings": "settings",
    "ChainStatus": "types",
    "Group": "types",
    "Judgment": "types",
    "OpenItem": "types",
    "Opinion": "types",
    "OpinionSource": "types",
    "SideScore": "types",
    "Status": "types",
}

__all__ = [
    "ChainStatus",
    "Group",
    "Judge",
    "JudgeSettings",
    "Judgment",
    "OpenItem",
    "Opinion",
    "OpinionSource",
    "SideScore",
    "Status",
    "judge",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
