"""What a run's models were asked, and what that cost, in words: for the terminal, Markdown and pages."""

from __future__ import annotations

from pytest_agentbench.reports.text import counted, money, seconds, short
from pytest_agentbench.runs.model_use import ModelUse

FROM_CACHE = "recorded replies came from the cache: --llm-cache off asks the model anew"


def lines(use: ModelUse | None) -> list[str]:
    """Nothing where no model was asked; a line more where the cache has answered."""
    if use is None:
        return []
    found = [f"{_kind(use)}: {asked(use)}", spent(use), FROM_CACHE if use.cache_hits else ""]
    return [line for line in found if line]


def fact(use: ModelUse) -> str:
    """What was asked, and what that took, in one line."""
    return ", ".join(part for part in (asked(use), spent(use)) if part)


def asked(use: ModelUse) -> str:
    """``gpt-4o-mini, 300 calls (120 from the cache), 210k tokens in, 30k out``"""
    return ", ".join([*use.models, calls(use), tokens(use)])


def _kind(use: ModelUse) -> str:
    return "model" if len(use.models) == 1 else "models"


def calls(use: ModelUse) -> str:
    """``300 calls (120 from the cache, 3 retries, 1 error)``"""
    parts = [f"{use.cache_hits:,} from the cache"] if use.cache_hits else []
    parts += [counted(use.retries, "retry", "retries")] if use.retries else []
    parts += [counted(use.errors, "error")] if use.errors else []
    beside = f" ({', '.join(parts)})" if parts else ""
    return f"{counted(use.calls, 'call')}{beside}"


def tokens(use: ModelUse) -> str:
    """``210k tokens in, 30k out``; ``about`` where a server did not count them"""
    about = "about " if use.estimated else ""
    return f"{about}{short(use.input_tokens)} tokens in, {short(use.output_tokens)} out"


def spent(use: ModelUse) -> str:
    """``cost 0.42 (0.17 saved by the cache), latency p50 0.81 s, p95 2.4 s``"""
    return ", ".join(part for part in (cost(use), latency(use)) if part)


def cost(use: ModelUse) -> str:
    """``cost 0.42 (0.17 saved by the cache)``; nothing where no price is known."""
    if use.whole_cost is None:
        return ""
    saved = f" ({money(use.replayed_cost)} saved by the cache)" if use.replayed_cost else ""
    return f"cost {money(use.cost or 0.0)}{saved}"


def latency(use: ModelUse) -> str:
    """``latency p50 0.81 s, p95 2.4 s``; nothing where the cache gave all replies."""
    if use.p50 is None or use.p95 is None:
        return ""
    return f"latency p50 {seconds(use.p50)}, p95 {seconds(use.p95)}"


def cards(use: ModelUse) -> dict[str, str]:
    """The same for the cards of a page, large words and small ones."""
    about = "about " if use.estimated else ""
    saved = f"{money(use.replayed_cost)} more saved by the cache" if use.replayed_cost else ""
    unknown = "none was recorded"
    if use.cache_hits == use.calls:
        unknown = "all replies came from the cache"
    return {
        "title": _kind(use),
        "names": ", ".join(use.models) or "several agents",
        "calls": calls(use),
        "note": FROM_CACHE if use.cache_hits else "",
        "cost": money(None if use.whole_cost is None else use.cost or 0.0),
        "saved": saved or ("no price is known" if use.whole_cost is None else ""),
        "tokens": f"{about}{short(use.tokens)}",
        "divided": f"{short(use.input_tokens)} in, {short(use.output_tokens)} out",
        "latency": "-" if use.p50 is None else seconds(use.p50),
        "slowest": unknown if use.p95 is None else f"p95 {seconds(use.p95)}",
    }
