"""Where data comes from: the cache of this machine and the hub."""
