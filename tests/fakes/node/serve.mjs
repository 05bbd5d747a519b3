// A scripted aimock for tests: reads its script (JSON) from the first line of stdin, prints its port, ends with stdin.
//
// Tests talk to a recorder in front of it, which keeps the exact bytes of every request and passes them on. The script
// is a list of turns {text, calls: [{name, arguments}], stop, usage}; request N gets turn N.
import http from "node:http";
import readline from "node:readline";
import { LLMock } from "@copilotkit/aimock";

const lines = readline.createInterface({ input: process.stdin });
const { value: script } = await lines[Symbol.asyncIterator]().next();
const turns = JSON.parse(script);
let served = 0;

const mock = new LLMock({ port: 0, host: "127.0.0.1", strict: true });
mock.on({ predicate: () => served < turns.length }, () => {
  const { text, calls, stop, usage } = turns[served++];
  const response = { ...(usage && { usage }), ...(stop && { finishReason: stop }) };
  if (text || !calls.length) response.content = text;
  if (calls.length) response.toolCalls = calls;
  return response;
});
await mock.start();

const seen = [];
const recorder = http.createServer((request, answer) => {
  if (request.url === "/seen") {
    answer.end(JSON.stringify(seen));
    return;
  }
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.concat(parts);
    seen.push({ method: request.method, path: request.url, headers: request.headers, body: body.toString("base64") });
    const onward = http.request(mock.url + request.url, { method: request.method, headers: request.headers }, (reply) => {
      answer.writeHead(reply.statusCode, reply.headers);
      reply.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    onward.end(body);
  });
});
recorder.listen(0, "127.0.0.1", () => console.log(recorder.address().port));

for await (const _ of lines);
process.exit(0);
