"""Where the data of any benchmark comes from: folders, partitions, the hub and its cache.

Nothing here knows what is in the data.
"""
