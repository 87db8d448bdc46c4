"""Makes the demo's truth: a synthetic hurricane over a synthetic city.

``python tests/demo_data/make_hurricane_mobility.py`` writes ``groundtruth/hurricane_groundtruth.json``
into the benchmark's folder ``demo``, and copies the city, its people and the reference days from
DailyMobility's demo; a test holds them equal.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

from pytest_agentbench.benchmarks.daily_mobility.data import DEMO_FOLDER as DAILY_DEMO_FOLDER
from pytest_agentbench.benchmarks.hurricane_mobility.data import DEMO_FOLDER, TRUTH_FILE

NOTE = "Synthetic demo data of pytest-agentbench: no number was measured."
BEFORE = (6, 3, 2, 2, 4, 15, 48, 96, 110, 62, 45, 58,
          72, 60, 48, 52, 70, 105, 98, 66, 44, 30, 20, 12)  # fmt: skip
SHARED = ("README.txt", "map.json", "places.csv", "pois.csv", "profiles.json", "roads.csv")
# What is left of each hour's trips: the afternoon of the landfall is the quietest.
DURING = (0.8,) * 6 + (0.7,) * 6 + (0.35,) * 8 + (0.45,) * 4
AFTER = (0.85,) * 8 + (0.95,) * 16


def main() -> None:
    path = DEMO_FOLDER / TRUTH_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(demo_json(), encoding="utf-8")
    for name in SHARED:
        shutil.copyfile(DAILY_DEMO_FOLDER / name, DEMO_FOLDER / name)
    print(f"{path}: {path.stat().st_size:,} bytes, synthetic")  # noqa: T201 -- a command


def demo_json() -> str:
    return json.dumps(demo_truth(), indent=1) + "\n"


def demo_truth() -> dict[str, Any]:
    hourly = {
        "before": list(BEFORE),
        "during": [round(trips * left) for trips, left in zip(BEFORE, DURING, strict=True)],
        "after": [round(trips * left) for trips, left in zip(BEFORE, AFTER, strict=True)],
    }
    totals = {period: sum(trips) for period, trips in hourly.items()}
    return {
        "note": NOTE,
        "relative_changes": {
            f"{period}_vs_before": round(100 * (totals[period] / totals["before"] - 1), 2)
            for period in ("during", "after")
        },
        "hourly_trips": hourly,
    }


if __name__ == "__main__":
    main()
