"""What will be asked, what was answered, and the folder that holds it: plan, records, run folder.

Nothing here computes a score or shows anything.
"""
