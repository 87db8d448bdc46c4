"""HurricaneMobility: does a generated population travel less while a hurricane passes, and when?"""
