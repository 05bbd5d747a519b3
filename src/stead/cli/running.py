"""``run`` and ``watch``: give a goal, start the daemon if needed, and watch; or watch an objective or a session.

Layer: cli. What can be seen to be wrong is refused before anything starts; the daemon is the authority on the rest.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.acceptance import DONE_WHEN, parse_check
from stead.cli.attachments import ATTACH, attached
from stead.cli.forms import OBJECTIVE, OneOf, arg, command
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.spending import forecast_line
from stead.cli.text_input import read_text
from stead.cli.watching import Watch
from stead.cli.work_options import VERBOSE, WAIT, WORK, folder_of, note_history, note_unseen_keys, work_fields
from stead.client import Json


def _run(invocation: Invocation, arguments: Namespace) -> int:
    body: Json = {"goal": read_text(arguments.goal, "goal"), "directory": folder_of(arguments.dir, "--dir DIR")}
    body |= {"constraints": arguments.constraint} | work_fields(arguments)
    if arguments.until and not arguments.review_every:
        raise CommandError("--until belongs to a goal that is reviewed", "--review-every 3d")
    if arguments.review_every:
        from stead.cli.schedules import until_of, when_of

        when_of(f"every {arguments.review_every}")
        until_of(arguments.until)
        # What does not hold yet waits for the next review, and is no reason to send it back to work.
        body["limits"] = {**body.get("limits", {}), "send_backs": 0}
    if arguments.done_when:
        body["checks"] = [parse_check(text) for text in arguments.done_when]
    if arguments.second_opinion:
        body["second_opinion"] = True
    client, out = invocation.client, invocation.out
    note_unseen_keys(invocation)
    note_history(invocation, arguments)
    likely = client.get("/forecast", directory=body["directory"], model="".join(arguments.model[:1]))
    if likely["basis"]:
        out.note(f"note: {forecast_line(likely)}")
    answer = client.post("/objectives", body | attached(invocation, arguments.attach))
    session: str = answer["session"]
    if arguments.review_every:
        from stead.cli.schedules import review

        review(invocation, session, arguments)
    if answer["text"]:
        out.note(f"note: {clean_line(answer['text'])}")
    if out.as_json:
        out.json({"type": "started", "id": session})
    if not arguments.detach:
        return Watch(invocation, session, wait=arguments.wait).follow()
    if not out.as_json:
        out.line(
            f"{session} runs in the background.\nwatch it:  stead watch {session}\nstop it:   stead stop {session}"
        )
    return OK


def _watch(invocation: Invocation, arguments: Namespace) -> int:
    session = arguments.id
    row = invocation.client.get(f"/objectives/{session}")  # an unknown one has no events: it would be watched for ever
    if row["kind"] == "session":
        from stead.cli.session_talking import attach

        return attach(invocation, session, wait=arguments.wait, whole=False)
    return Watch(invocation, session, wait=arguments.wait).follow()


COMMANDS = {
    "watch": command(_watch, OBJECTIVE, WAIT, VERBOSE),
    "run": command(
        _run,
        arg("goal GOAL", 'what to reach, in your words; "-" reads it from standard input'),
        arg("--dir D", "the folder to work in (else the current one)", default="."),
        arg("--constraint C...", "a rule to keep"),
        DONE_WHEN,
        arg(
            "--second-opinion",
            "another model looks at the record at the end; `stead chain` sets it, as the role review",
        ),
        arg("--review-every TIME", "take the goal up again so often, such as 3d, until its checks hold"),
        arg("--until DATE", "of --review-every: the day on which the reviews end"),
        ATTACH,
        *WORK,
        OneOf(arg("--detach", "leave it running in the background"), WAIT),
        VERBOSE,
        usage="stead run GOAL [options]",
    ),
}
