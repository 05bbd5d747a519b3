// Counts tokens of what comes on standard input, with the vocabulary o200k_base.
import { readFileSync } from "node:fs";
import { Tiktoken } from "js-tiktoken/lite";
import o200kBase from "js-tiktoken/ranks/o200k_base";

process.stdout.write(String(new Tiktoken(o200kBase).encode(readFileSync(0, "utf8"), [], []).length));
