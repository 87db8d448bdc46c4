"""BehaviorModeling: what would this person choose, and what would they write about it?"""
