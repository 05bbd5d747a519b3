"""What ends a session that does not end itself, and what a request may cost.

Layer: brain. Every limit leads to a clear end state with a summary, never to an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain.effects import Finish
from stead.domain.events import Spend
from stead.domain.ports import ModelInfo
from stead.domain.sessions import Session, calls_left

FAILURES = 5
"""Model requests in a row that bring nothing, before the objective fails."""


_STUCK = ("stall", "repetition", "model")
"""What is no limit of the person's: it could not go on."""


def reached(session: Session) -> Finish | None:
    """The limit that has been reached between two steps, if any."""
    limit = session.spec.limits
    if session.same_calls >= limit.stall and session.calls:
        return _failed(session, "stall", f"the same call came {session.same_calls} times in a row: {session.last_call}")
    if session.same_texts >= limit.repetition:
        return _failed(session, "repetition", f"the same reply came {session.same_texts} times in a row")
    waiting = any(call.step in ("new", "approved") for call in session.calls.values())
    if waiting and calls_left(session) <= 0:
        return _failed(session, "calls", f"it made all of its {limit.calls} calls of tools{_way(session)}")
    if session.worked_ms > limit.wall_s * 1000:
        return _failed(session, "wall_time", f"it worked for more than {limit.wall_s} s")
    if session.failures >= FAILURES:
        return _failed(session, "model", f"the model failed {session.failures} times in a row; see `stead show`")
    return None


def iterations(session: Session) -> Finish | None:
    """The limit on model requests, looked at before another one."""
    limit = session.spec.limits.iterations
    if session.iterations < limit:
        return None
    return _failed(session, "iterations", f"it used all of its {limit} model requests{_way(session)}")


def _way(session: Session) -> str:
    if session.spec.parent:
        return ""
    if session.spec.interactive:
        return "; say more to go on"
    return f"; go on with `stead retry {session.id} --iterations N`"


def over_budget(session: Session, needed_tokens: int) -> Finish:
    """The end of a session whose next request might pass its budget; names the figure that is too small.

    Args:
        session: whose.
        needed_tokens: what the smallest request with a useful reply would reserve.
    """
    tokens = session.budget.tokens
    short = tokens != "unlimited" and tokens - session.spent.tokens < needed_tokens
    if session.spec.parent:
        way = "Its parent set no more aside for it"
    elif session.spec.interactive:
        way = f"Raise it: `stead session budget {session.id} {'--tokens' if short else '--usd'} N`"
    else:
        way = f"Go on with more: `stead retry {session.id} {'--budget-tokens' if short else '--budget-usd'} N`"
    return _failed(session, "budget", f"the next request needs up to {needed_tokens} tokens; {_spent(session)}. {way}")


def unbounded(session: Session, model: ModelInfo) -> Finish:
    """The end of a session that no limit could hold: its tokens are unlimited, and its money cannot be counted."""
    name = f"{model.ref.provider}/{model.ref.model}"
    end = "session budget" if session.spec.interactive else "retry"
    limit = f"stead {end} {session.id} {'--tokens' if session.spec.interactive else '--budget-tokens'} N"
    return _failed(
        session,
        "budget",
        f"no price is known for {name}, so a limit in dollars cannot be kept, and the tokens are unlimited. "
        f"Limit the tokens (`{limit}`), or give its price (`stead providers set {name} --price-in X --price-out Y`)",
    )


def output_cap(session: Session, models: Sequence[ModelInfo], input_tokens: int, wanted: int) -> int:
    """How many output tokens the budgets leave room for, when a request has this input; 0 or less for no room."""
    cap = wanted
    if session.budget.tokens != "unlimited":
        cap = min(cap, session.budget.tokens - session.spent.tokens - input_tokens)
    if session.budget.usd_micros != "unlimited":
        left = session.budget.usd_micros - session.spent.usd_micros
        for model in models:
            room = (left * 1_000_000) - input_tokens * model.input_usd_micros_per_mtok
            if room < 0:
                return 0
            if model.output_usd_micros_per_mtok:
                cap = min(cap, room // model.output_usd_micros_per_mtok)
    return cap


def reservation(models: Sequence[ModelInfo], input_tokens: int, output_tokens: int) -> Spend:
    """The most that a request can cost, whichever model of the chain serves it."""
    per_million = max(
        input_tokens * model.input_usd_micros_per_mtok + output_tokens * model.output_usd_micros_per_mtok
        for model in models
    )
    return Spend(
        tokens=input_tokens + output_tokens,
        usd_micros=-(-per_million // 1_000_000),
        price_known=all(model.price_known for model in models),
    )


def unpriced(session: Session, models: Sequence[ModelInfo]) -> ModelInfo | None:
    """A model that no limit of the session holds: its price is not known, and only the money is limited.

    Where the tokens are limited they alone bind such a model, which is said when the session opens.
    """
    if session.budget.usd_micros == "unlimited" or session.budget.tokens != "unlimited":
        return None
    return next((model for model in models if not model.price_known), None)


def _spent(session: Session) -> str:
    dollars = session.spent.usd_micros / 1_000_000
    return f"{session.spent.tokens} of {session.budget.tokens} tokens and ${dollars:.4f} are used"


def _failed(session: Session, reason: str, cause: str) -> Finish:
    done = sum(step.status == "done" for step in session.plan)
    plan = f" {done} of {len(session.plan)} planned steps were done." if session.plan else ""
    return Finish("failed" if reason in _STUCK else "incomplete", reason, f"Stopped: {cause}.{plan}")
