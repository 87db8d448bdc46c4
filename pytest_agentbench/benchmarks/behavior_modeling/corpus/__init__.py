"""Makes a BehaviorModeling data set of a review corpus: reading, split by time, candidates, the data card.

Nothing here is used by a run; a run reads the files that were made.
"""
