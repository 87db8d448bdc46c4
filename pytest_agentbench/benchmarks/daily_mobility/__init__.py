"""DailyMobility: does a generated population live its days as the real one does?"""
