"""Command line, scenario file and ini file become one frozen Settings, from one list of options.

Nothing here asks an agent or reads a run; nothing here imports pytest.
"""
