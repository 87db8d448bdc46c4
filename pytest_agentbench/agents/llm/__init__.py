"""The model that agents may ask: configuration, client, and the ways of calling it.

Nothing here knows an agent.
"""
