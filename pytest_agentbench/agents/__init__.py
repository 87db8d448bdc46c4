"""Agents: everything from what ``--agent`` says to an answer. Nothing here knows a benchmark's data or truth.

- *load*: what ``--agent`` says becomes an agent (``find`` and ``code_imports`` import the user's Python code);
- *shapes*: functions, classes, objects and the agents of other frameworks become one function;
- *ticks*: agents that live tick by tick become one, too (``tick_days`` drives them, ``citizens`` are asbench's);
- *call*: one call in this process, within its time (``http_agent`` and ``process/`` call elsewhere);
- *ask*: a call with retries, whose usage and output are counted; ``prefetch`` asks several at once.
"""
