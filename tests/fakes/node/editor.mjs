// An editor by the protocol's own SDK, driven by a test: it runs an agent, says on each line of stdout what it got, and
// does what each line of stdin says.
//
//   {"do": "request", "tag", "method", "params"}   {"do": "notify", "method", "params"}
//   {"do": "permit", "tag", "outcome"}             {"do": "leave"}
//
// Every line is passed on as it came ("wire") and went ("sent"), so that a test can hold it against the schema.
import { spawn } from "node:child_process";
import readline from "node:readline";
import { PassThrough, Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/unstable";

const [command, ...words] = process.argv.slice(2);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const agent = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] });
const copy = new PassThrough();
agent.stdout.on("data", (piece) => copy.write(piece));
agent.stdout.on("end", () => copy.end());
readline.createInterface({ input: agent.stdout, crlfDelay: Infinity }).on("line", (line) => say({ wire: line }));
agent.on("exit", (code) => say({ exit: code }));
say({ pid: agent.pid });

const asked = new Map();
let tags = 0;
const client = acp
  .client({ name: "test" })
  .onRequest(acp.methods.client.session.requestPermission, async (context) => {
    const tag = ++tags;
    const outcome = new Promise((resolve) => asked.set(tag, resolve));
    context.signal?.addEventListener("abort", () => say({ withdrawn: tag }));
    say({ permission: context.params, tag });
    return { outcome: await outcome };
  })
  .onNotification(acp.methods.client.session.update, async (context) => say({ update: context.params }));

const output = new Writable({
  write(piece, encoding, done) {
    say({ sent: piece.toString() });
    agent.stdin.write(piece, encoding, done);
  },
});
agent.stdin.on("error", () => {});
const stream = acp.ndJsonStream(Writable.toWeb(output), Readable.toWeb(copy));
await client.connectWith(stream, async (context) => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { do: act, tag, method, params, outcome } = JSON.parse(line);
    if (act === "request") {
      context.request(method, params).then(
        (result) => say({ result, tag }),
        (error) => say({ error: { code: error.code, message: error.message }, tag }),
      );
    } else if (act === "notify") await context.notify(method, params);
    else if (act === "permit") asked.get(tag)(outcome);
    else break;
  }
});
agent.stdin.end();
