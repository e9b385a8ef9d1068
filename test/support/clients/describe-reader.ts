/** The tests that every library passes which reads replies: in front of each format of an upstream, streamed and not. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Cell, formatNames } from "./clients-rig.ts";
import type { ReaderReport } from "./readers/reader.ts";
import { type Reader, readThrough } from "./run-reader.ts";
import { agentScenario, type ScriptedCall } from "./scenario.ts";
import type { FormatName } from "./scripted-upstream.ts";

/** `agent` and `whole agent`: three turns with functions; `plain`: a text; `broken`: a failure event, then a cut. */
export type ReaderTest = "agent" | "whole agent" | "plain" | "broken";

export interface ReaderTests {
  readonly cell: (format: FormatName) => Cell;
  readonly tests: readonly ReaderTest[];
  /** Whether the library reports failures as parts of the stream, and its format has an event for them. */
  readonly hasErrorParts?: true;
}

/** Words by which agents take a failure for one that passes; pi's rule has these. */
const retryWords =
  /overloaded|rate.?limit|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?lost|upstream.?connect|terminated/i;

const step = (word: string): ScriptedCall => ({ name: "step", arguments: { word } });

/** Declares them. */
export function describeReader(reader: Reader, { cell, tests, hasErrorParts }: ReaderTests): void {
  describe(reader.name, function () {
    this.timeout(40_000);
    for (const format of formatNames) {
      for (const test of tests) {
        if (test === "plain") {
          it(`pitfall 165: a plain stream over ${format}`, () => readPlain(reader, cell(format)));
        } else if (test === "broken") {
          it(`pitfall 166: a failure event of ${format} is no broken connection`, () =>
            readFailure(reader, cell(format), hasErrorParts));
          it(`pitfall 170: a cut of ${format} is told, in words of retry rules where the format has an event`, () =>
            readCut(reader, cell(format), hasErrorParts));
        } else {
          it(`pitfall 165: an ${test} of three turns over ${format}`, () =>
            readAgent(reader, cell(format), test === "agent"));
        }
      }
    }
  });
}

async function readAgent(reader: Reader, cell: Cell, isStream: boolean): Promise<void> {
  cell.play(agentScenario(step));
  const told = await readThrough(reader, cell, { isStream, hasTool: true });
  const { refusals } = cell.upstream;
  const seen = `${JSON.stringify(told)}, refused: ${refusals.join("; ")}`;
  assert.equal(told.error, undefined, seen);
  assert.deepEqual(refusals, [], seen);
  for (const word of ["All done:", "did alpha", "did beta", "did gamma"]) assert.ok(told.text.includes(word), seen);
}

async function readPlain(reader: Reader, cell: Cell): Promise<void> {
  cell.play(() => ({ text: "Nothing but text." }));
  const told = await readThrough(reader, cell, { isStream: true, hasTool: false });
  assert.deepEqual([told.error, told.text], [undefined, "Nothing but text."]);
}

/** Where the library has error parts, one of them and nothing thrown; else it throws, of which the type is its own. */
async function readFailure(reader: Reader, cell: Cell, hasErrorParts?: true): Promise<void> {
  cell.play(() => ({ text: "Half of it", failure: "overloaded" }));
  const told = await readThrough(reader, cell, { isStream: true, hasTool: false });
  assert.ok(errorsOf(told).length > 0, `it looks complete: ${JSON.stringify(told)}`);
  if (hasErrorParts !== true) return;
  assert.equal(told.error, undefined, JSON.stringify(told));
  assert.equal(told.errorParts?.length, 1, JSON.stringify(told));
  assert.equal(told.text, "Half of it");
}

async function readCut(reader: Reader, cell: Cell, hasErrorParts?: true): Promise<void> {
  cell.play(() => ({ text: "Half of it", isCut: true }));
  const told = await readThrough(reader, cell, { isStream: true, hasTool: false });
  assert.ok(errorsOf(told).length > 0, `it looks complete: ${JSON.stringify(told)}`);
  if (hasErrorParts === true) assert.match(errorsOf(told).join("\n"), retryWords);
}

/** All that a library said of a failure: what it threw and its error parts. */
function errorsOf(told: ReaderReport): readonly string[] {
  return [...(told.errorParts ?? []), ...(told.error === undefined ? [] : [told.error])];
}
