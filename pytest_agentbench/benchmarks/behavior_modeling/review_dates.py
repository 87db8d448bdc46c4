"""When a review was written, in the formats of three sources."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

_DATE_KEYS = ("timestamp", "date", "date_added", "time")
_GOODREADS_DATE = "%a %b %d %H:%M:%S %z %Y"


def review_time(record: dict[str, Any]) -> float | None:
    """When a review was written, in seconds since 1970; the formats of three sources."""
    for key in _DATE_KEYS:
        if record.get(key) is not None:
            try:
                return moment_of(record[key])
            except (ValueError, OverflowError):
                return None
    return None


def moment_of(value: Any) -> float:
    """Seconds since 1970 of a number (milliseconds if so large), a datetime, or a written date."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value / 1000 if abs(value) > 1e11 else float(value)
    if isinstance(value, str):
        text = value.strip()
        if text.replace(".", "", 1).isdigit() and len(text) > 8:
            return moment_of(float(text))
        try:
            value = datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
        except ValueError:
            try:
                value = datetime.strptime(text, _GOODREADS_DATE)
            except ValueError:
                raise ValueError(f"expected a date such as 2019-05-31, got {text!r}") from None
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return aware.timestamp()
    raise ValueError(f"expected a date such as 2019-05-31, got {value!r}")
