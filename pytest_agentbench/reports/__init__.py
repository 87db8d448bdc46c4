"""Scores for people and programs: terminal, Markdown, GitHub, HTML, JSON, CSV, MLflow, Inspect.

``publish`` ends a run and calls the formats. Nothing is decided here, and nothing knows pytest.
"""
