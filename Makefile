.PHONY: check test perf matrix

check:
	ruff check .
	ruff format --check .
	mypy
	lint-imports

test:
	pytest -n 2

# Writes docs/performance.md; takes about 50 minutes and wants the machine for itself.
perf:
	python perf/all.py

# Every supported Python that is installed, with the oldest and the newest supported pytest.
matrix:
	tox run
