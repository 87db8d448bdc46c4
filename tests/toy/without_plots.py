"""``-p without_plots``: a run in a process of its own draws nothing, as making the script of plots takes 1.5 s.

Every test has a new cache, in which that script is not.
"""

import sys

sys.modules.setdefault("vl_convert", None)  # in the process of the tests it is there already
