"""How a model is led by its trust tier: one table, and what follows from it for a call, a send-back, an end.

Layer: brain. A tier can only hold work back before the gate, or send it back to work. What may happen is the guardian's
to say, which does not know of tiers: a call that passes here is judged as any other.
"""

from __future__ import annotations

import msgspec

from stead.brain.world import World
from stead.domain.agents import SPAWN
from stead.domain.external_agents import DELEGATE
from stead.domain.sessions import Action, Call, Session
from stead.domain.tools import ToolEffect, ToolSpec
from stead.domain.trust import Tier

PLAN = "plan"
PLAN_FIRST = "Not run: make a plan first. Call `plan` with your steps, then make this call again."
WITHHELD = "Not run: this session starts no other agents. Do the work yourself, with the other tools."
UNPROVEN = (
    "Nothing on record shows that your last change is right: after it no command ended well, and nothing was read. "
    "Run what shows it, or read what you changed; then report."
)


class Supervision(msgspec.Struct, frozen=True):
    """What a tier asks of a model.

    Args:
        plan_first: nothing that has an effect runs before the model, or the person, has made a plan.
        send_backs: how often a run is sent back to work, in percent of the session's limit.
        most_send_backs: at most, whatever the limit is.
        withheld: tools that are not offered and do not run.
        shown: an end after changes has something on record, later than the last of them, that shows the result.
    """

    plan_first: bool = False
    send_backs: int = 100
    most_send_backs: int = 100
    withheld: frozenset[str] = frozenset()
    shown: bool = False


TABLE: dict[Tier, Supervision] = {
    "strict": Supervision(plan_first=True, send_backs=200, withheld=frozenset({SPAWN, DELEGATE}), shown=True),
    "normal": Supervision(),
    "trusted": Supervision(most_send_backs=1),
}


def offered(session: Session, tools: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """Those of the tools that stand in the session's requests."""
    withheld = TABLE[session.offered_by].withheld
    return tuple(spec for spec in tools if spec.name not in withheld) if withheld else tools


def held_back(session: Session, call: Call, world: World) -> str:
    """Why a call does not go to the gate, for the model; "" where it does.

    A call that the person has answered or changed goes there in any case.
    """
    led = TABLE[session.tier]
    if call.step != "new" or call.edited:
        return ""
    if call.tool in led.withheld:
        return WITHHELD
    if not led.plan_first or session.plan_by in ("model", "person"):
        return ""
    effects = {spec.name: spec.declaration.effect for spec in world.tools}
    free = (ToolEffect.THINK, ToolEffect.READ)
    return PLAN_FIRST if PLAN in effects and effects.get(call.tool) not in free else ""


def send_backs_left(session: Session) -> int:
    """How often the run or turn may still be sent back to work."""
    led = TABLE[session.tier]
    most = min(session.spec.limits.send_backs * led.send_backs // 100, led.most_send_backs)
    return most - session.send_backs


def unproven(session: Session) -> bool:
    """Whether the tier wants an end shown, and the record shows nothing of the last change."""
    if not TABLE[session.tier].shown or not session.effects:
        return False
    run = session.actions[session.acted_from :]
    wrote = [at for at, action in enumerate(run) if action.effect == "write" and action.outcome == "ok"]
    return not any(_shows(action) for action in run[wrote[-1] + 1 if wrote else 0 :])


def _shows(action: Action) -> bool:
    """A reading, a sending or a request that went well, or a command that ended with 0."""
    return action.outcome == "ok" and action.effect != "think" and (action.effect != "execute" or action.exit_code == 0)
