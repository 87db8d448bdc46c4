"""``-p without_bokeh``: a run in a process of its own makes no plots, whose library takes 0.8 s to import."""

import sys

sys.modules.setdefault("bokeh", None)  # in the process of the tests it is there already
