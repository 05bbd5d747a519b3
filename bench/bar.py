"""A bar and its measured figure, as one line for people and one record for programs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Bar:
    """One measured bar.

    Args:
        id: as in the table of bars, such as "P4".
        figure: what was measured, in ``unit``.
        unit: such as "ms CPU".
        target: as the line shows it, such as "≤ 20".
        holds: whether the figure meets the target.
        anchors: what peers, or a raw library in the same run, reach; in the same unit.
        conditions: what was measured how, in one line.
    """

    id: str
    figure: float
    unit: str
    target: str
    holds: bool
    anchors: dict[str, float] = field(default_factory=dict)
    conditions: str = ""

    def line(self) -> str:
        """``P4 12.3 ms CPU, target ≤ 20, nanobot 100: holds``."""
        beside = "".join(f", {name} {value:g}" for name, value in self.anchors.items())
        verdict = "holds" if self.holds else "short"
        return f"{self.id} {self.figure:.4g} {self.unit}, target {self.target}{beside}: {verdict}"
