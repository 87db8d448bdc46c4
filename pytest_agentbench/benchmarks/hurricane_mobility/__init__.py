"""HurricaneMobility: does a generated population travel less while a hurricane passes, and when?

Data, answers, baselines and readings; the city is in city/, the formulas are in metrics/. No other
benchmark is imported here.
"""
