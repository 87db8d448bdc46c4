"""What stands in for WebSocietySimulator: its agents, modules, models and tools, by their published names.

Written from a description of that interface; the prompts are ours. Nothing here knows a benchmark's data.
"""
