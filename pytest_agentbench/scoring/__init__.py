"""From records to scores: readings with intervals, gates decided, floor, comparison, ranking.

Everything here returns dataclasses. No text for people is made here, and no file of a run is written.
"""
