"""HuMob: where will a person be in each half hour of the coming days?"""
