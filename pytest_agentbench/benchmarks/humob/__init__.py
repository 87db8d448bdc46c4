"""HuMob: where will a person be in each half hour of the coming days?

Formats, checks, baselines and readings of the challenge; the formulas are in metrics/. No other
benchmark is imported here.
"""
