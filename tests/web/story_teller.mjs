// For each line of JSON on stdin, `{stream, events}`, one on stdout: the page's row after each event, and its steps.
import { createInterface } from "node:readline";
import { begin, took } from "../../frontend/src/story/fold";
import { stepRows } from "../../frontend/src/story/steps";

for await (const line of createInterface({ input: process.stdin })) {
  const { stream, events } = JSON.parse(line);
  const rows = [];
  let story = begin(stream);
  for (const event of events) {
    story = took(story, [event]);
    rows.push(story.row);
  }
  const atOnce = took(begin(stream), events);
  const twice = took(atOnce, events);
  process.stdout.write(
    `${JSON.stringify({
      rows,
      steps: stepRows(story),
      sameAtOnce: JSON.stringify([atOnce.row, atOnce.items]) === JSON.stringify([story.row, story.items]),
      sameTwice: twice === atOnce,
    })}\n`,
  );
}
