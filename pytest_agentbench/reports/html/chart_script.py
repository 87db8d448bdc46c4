"""The script that draws charts in a page: Vega, Vega-Lite and Vega-Embed, made once for each version.

vl-convert has these libraries and makes one script of them, which takes about 1.5 s. The cache keeps it
packed, as pages hold it: 0.4 MB instead of 0.9.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import gzip
import hashlib
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

from pytest_agentbench.base import files

# The expression of a name, so that nothing else of the bundle is global.
_WRAPPED = "/* Vega, Vega-Lite, Vega-Embed: BSD-3-Clause, vega.github.io */(()=>{%s})();"
_FORMAT = 1


@dataclass(frozen=True)
class ChartScript:
    digest: str  # SHA-256 of the script, in base64: what a Content-Security-Policy allows
    packed: str  # the script by gzip, in base64


@functools.cache
def chart_script() -> ChartScript:
    """The script, from the cache if it is there; where there is no cache, it is made."""
    version = importlib.metadata.version("vl-convert-python")
    try:
        path = files.cache_folder() / "charts" / f"vega-{version}-{_FORMAT}.txt"
    except RuntimeError:  # no home folder
        return _made()
    if kept := _kept(path):
        return kept
    with files.one_at_a_time(path):
        if kept := _kept(path):
            return kept
        made = _made()
        with contextlib.suppress(OSError):  # a cache that cannot be written costs time, no plots
            files.write_whole(path, f"{made.digest}\n{made.packed}\n")
        return made


def _kept(path: Path) -> ChartScript | None:
    with contextlib.suppress(OSError, ValueError):  # not there, or not ours
        digest, packed = path.read_text(encoding="ascii").split()
        if len(digest) == 44:  # a SHA-256 in base64
            return ChartScript(digest, packed)
    return None


def _made() -> ChartScript:
    import vl_convert

    script = _WRAPPED % vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    packed = base64.b64encode(gzip.compress(script.encode(), 9, mtime=0))
    return ChartScript(digest.decode(), packed.decode())
