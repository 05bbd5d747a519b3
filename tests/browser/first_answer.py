"""From a home that nobody ever used to a first answered objective, by mouse, as the setup leads."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, expect

from tests.browser.chrome import Visit, settled
from tests.browser.stage import Stage


@dataclass
class Walk:
    """What it took.

    ``prompts``: what the person was asked, in order, each once: a question whose answer takes two presses is one.
    ``presses``: of the mouse, all of them. Nothing is typed, so nothing is pasted.
    """

    page: Page
    prompts: list[str] = field(default_factory=list)
    presses: int = 0
    took_s: float = 0.0

    def answer(self, prompt: str, *presses: Locator) -> None:
        """Answer one question by these presses."""
        self.prompts.append(prompt)
        for place in presses:
            place.click()
            self.presses += 1


def walk(visit: Visit, stage: Stage) -> Walk:
    """Follow the link that ``stead up`` prints, set up with the rehearsal model, and give the objective that is
    suggested, which asks nothing. The clock stops when the page shows the answer.
    """
    link = stage.link()
    page = visit.stranger(stage).new_page()
    done = Walk(page)

    def button(name: str) -> Locator:
        return page.get_by_role("button", name=name, exact=True)

    began = time.perf_counter()
    page.goto(link)
    done.answer("begin", page.get_by_role("link", name="Set up Stead"))
    settled(page)
    done.answer("a model", page.get_by_role("radio", name="Demo mode (no AI)"), button("Use demo mode"))
    done.answer("the sandbox", button("Continue"))
    folder = page.get_by_role("list", name="Folders in").get_by_role("button", name=stage.project.name)
    done.answer("a folder", button("Browse"), folder)
    done.answer("the objective", button("Start"))
    expect(page.get_by_role("main")).to_contain_text("Done")
    done.took_s = time.perf_counter() - began
    return done
