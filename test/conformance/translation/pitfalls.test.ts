/**
 * Every rule of docs/design/pitfalls.md, bugs seen in real gateways and SDKs, is a test whose name says its number.
 * This one reads the names of all tests and misses none; what a case expects is proven where its name stands.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "mocha";

const root = path.resolve(import.meta.dirname, "../..");
const page = readFileSync(path.join(root, "../docs/design/pitfalls.md"), "utf8");
const cases = [...page.matchAll(/^- \*\*(\d+)\*\* /gm)].map(([, number]) => Number(number));

/** `pitfall 7`, `pitfalls 145 and 146`, `pitfalls 1, 2`. */
const numbered = /\bpitfalls? (\d+(?:(?:,| and|, and) \d+)*)/g;
const comment = /^\s*(?:\/\/|\/?\*)/;

/** Files of tests by the case that they name. */
function filesByCase(): ReadonlyMap<number, ReadonlySet<string>> {
  const found = new Map<number, Set<string>>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || file.endsWith("translation/pitfalls.test.ts")) continue;
    for (const line of readFileSync(path.join(root, file), "utf8").split("\n")) {
      if (comment.test(line)) continue;
      for (const [, numbers = ""] of line.matchAll(numbered)) {
        for (const number of numbers.match(/\d+/g) ?? []) {
          const files = found.get(Number(number)) ?? new Set();
          found.set(Number(number), files.add(file));
        }
      }
    }
  }
  return found;
}

describe("pitfalls", () => {
  const found = filesByCase();

  it("counts its cases without a gap", () => {
    assert.deepEqual(
      cases,
      cases.map((_, index) => index + 1),
    );
    assert.ok(cases.length > 0);
  });

  it("has a test for each of the cases, by its number", () => {
    assert.deepEqual(
      cases.filter((number) => !found.has(number)),
      [],
    );
  });

  it("names no case that there is not", () => {
    assert.deepEqual(
      [...found.keys()].filter((number) => !cases.includes(number)),
      [],
    );
  });
});
