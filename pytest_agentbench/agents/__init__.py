"""Agents: found by name, wrapped so that every shape is called alike."""
