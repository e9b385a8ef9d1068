/**
 * One reader of translation under a fuzzer, as a program: `fuzz-child.ts READER SEED DURATION_MS CASE_FILE [CASE]`.
 * Prints the outcome as one JSON line. The number of the case that runs stands in CASE_FILE, for whoever waits in vain.
 */
import { openSync, writeSync } from "node:fs";
import { readCorpora } from "./corpus.ts";
import { fuzzReader } from "./fuzz-reader.ts";
import { createReaders } from "./readers.ts";

const [name, seed, durationMs, caseFile = "/dev/null", onlyCase] = process.argv.slice(2);
const reader = createReaders(readCorpora()).find((candidate) => candidate.name === name);
if (reader === undefined) throw new Error(`there is no reader ${name}`);
const file = openSync(caseFile, "w");
const outcome = fuzzReader(reader, {
  seed: Number(seed),
  durationMs: Number(durationMs),
  ...(onlyCase === undefined ? {} : { onlyCase: Number(onlyCase) }),
  onCase: (index) => writeSync(file, String(index).padEnd(16), 0),
});
console.log(JSON.stringify(outcome));
