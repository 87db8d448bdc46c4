"""BehaviorModeling: what would this person choose, and what would they write about it?

Tasks, the store of reviews, answers, baselines and readings; the formulas are in metrics/. No other
benchmark is imported here.
"""
