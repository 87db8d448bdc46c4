"""What agents written for asbench (its package agentsociety) derive from and are handed.

Nothing here calls an agent or knows a benchmark.
"""
