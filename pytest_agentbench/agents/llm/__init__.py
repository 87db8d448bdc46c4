"""The model that agents may ask: its configuration, its client and the ways of calling it. Nothing here calls an agent."""
