"""A bar and its measured figure, as one line for people and one record for programs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Bar:
    """One measured bar.

    Args:
        id: as in the table of bars, such as "P4".
        figure: what was measured, in ``unit``; nothing where it could not be measured, which never holds.
        unit: such as "ms CPU".
        target: as the line shows it, such as "≤ 20".
        holds: whether the figure meets the target.
        anchors: what peers, or a raw library in the same run, reach; in the same unit.
        conditions: what was measured how, in one line.
    """

    id: str
    figure: float | None
    unit: str
    target: str
    holds: bool
    anchors: dict[str, float] = field(default_factory=dict)
    conditions: str = ""

    @classmethod
    def unmeasured(cls, id: str, why: str) -> Bar:
        """A bar without a figure: what it needs is not here.

        Args:
            id: as in the table of bars.
            why: it could not be measured, and what to do.
        """
        return cls(id, None, "", "to be measured", False, {}, why)

    def line(self) -> str:
        """``P4 12.3 ms CPU, target ≤ 20, nanobot 100: holds``."""
        if self.figure is None:
            return f"{self.id} was not measured: {self.conditions}: short"
        beside = "".join(f", {name} {value:g}" for name, value in self.anchors.items())
        verdict = "holds" if self.holds else "short"
        return f"{self.id} {self.figure:.4g} {self.unit}, target {self.target}{beside}: {verdict}"
