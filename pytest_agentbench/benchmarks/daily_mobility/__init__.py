"""DailyMobility: does a generated population live its days as the real one does?

Data, answers, baselines and readings; the city is in city/, the formulas are in metrics/. No other
benchmark is imported here.
"""
