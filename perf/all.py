"""Measures everything and writes docs/performance.md: `python perf/all.py`, about 50 minutes.

`--quick` takes small sizes, to see that the scripts work, and prints. Names of scripts measure these
alone. A script that fails, or takes longer than an hour, leaves the rows it had and the others' tables.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from measure import ROOT, machine

# What a script measures takes all cores: one after the other, the longest last.
SCRIPTS = ("short_runs", "humob_kernels", "humob_peers", "humob_end_to_end", "daily_mobility", "city",
           "store", "make_dataset", "agent_isolation", "text_scoring", "dask_scoring", "concurrency", "items")  # fmt: skip
LIMIT_SECONDS = 60 * 60
PAGE = """# Performance

Written by `python perf/all.py`. Every ratio is between times of the same run; seconds are this machine's,
and worth most where nothing else was running. Each section says how its numbers came about; its script
measures it alone (`python perf/items.py`), and `--quick` shows with small sizes that it works. Empty cells
were not measured.

{about}

To repeat it:

<!-- not run: takes about 50 minutes -->
```sh
pip install -c constraints.txt -e ".[text,xdist,dask,perf]"
pip install --no-deps aeon deprecated  # aeon asks for an older numba, and works with this one
make perf
```

{sections}
"""
QUICK = "- sizes: small (`--quick`), to see that the scripts work; the numbers mean little"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SCRIPT", default=SCRIPTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output", type=Path, help="write here instead of docs/performance.md")
    options = parser.parse_args()
    about = "\n".join([*machine(), *([QUICK] if options.quick else [])])
    output = options.output or (None if options.quick else ROOT / "docs" / "performance.md")
    sections: list[str] = []
    failed = []
    for name in options.names:
        start = time.perf_counter()
        section, problem = measured(name, options.quick)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        print(f"{section}\n", flush=True)
        failed += [name] if problem else []
        sections.append(f"{section}\n\nNot complete: {problem}." if problem else section)
        if output:
            page = PAGE.format(about=about, sections="\n\n".join(sections))
            output.write_text(page, encoding="utf-8")
    if failed:
        print(f"not complete: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def measured(name: str, quick: bool) -> tuple[str, str | None]:
    """What a script printed, and what went wrong; its own complaints go to the terminal."""
    command = [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *["--quick"] * quick]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )  # fmt: skip
    problem = None
    try:
        printed, _ = process.communicate(timeout=LIMIT_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as stopped:
        os.killpg(process.pid, signal.SIGKILL)  # and the processes that it measures
        printed, _ = process.communicate()
        if isinstance(stopped, KeyboardInterrupt):
            raise
        problem = f"stopped after {LIMIT_SECONDS // 60} minutes"
    if process.returncode and problem is None:
        problem = f"the script ended with {process.returncode}"
    return printed.strip() or f"## {name}", problem


if __name__ == "__main__":
    sys.exit(main())
