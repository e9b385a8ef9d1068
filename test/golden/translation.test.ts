/**
 * Goldens of translation: each file holds what clients of some formats say, or what upstreams answer, and what becomes
 * of it in every other format. The support matrix of the documentation is made of them.
 *
 * `npm run golden -- --update` writes `expected` anew; the difference is what a reviewer reads.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseDocument as parseYaml } from "yaml";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { answerOf, formats, sendTo, smallestCalls, streamOf } from "#test/support/translation/pure-translation";

interface RequestGolden {
  /** Row of the support matrix. */
  readonly feature: string;
  readonly given: Partial<Readonly<Record<ChatWireFormat, object>>>;
  readonly expected?: unknown;
}

interface ReplyGolden {
  readonly feature: string;
  /** Set over the smallest call of every client. */
  readonly call?: Partial<Readonly<Record<ChatWireFormat, object>>>;
  /** Whole answers as objects, streams as text. */
  readonly given: Partial<Readonly<Record<ChatWireFormat, object | string>>>;
  readonly expected?: unknown;
}

const root = join(import.meta.dirname, "translation");
const isUpdate = process.env["UPDATE_GOLDENS"] === "1";

/** For each format that is given, what every other one makes of it. */
function toEveryOther<Given>(
  given: Partial<Readonly<Record<ChatWireFormat, Given>>>,
  translate: (from: ChatWireFormat, to: ChatWireFormat, value: Given) => unknown,
): unknown {
  const outcome: Record<string, Record<string, unknown>> = {};
  for (const from of formats) {
    const value = given[from];
    if (value === undefined) continue;
    outcome[from] = {};
    for (const to of formats) if (to !== from) outcome[from][to] = translate(from, to, value);
  }
  return JSON.parse(JSON.stringify(outcome));
}

function check(path: string, text: string, expected: unknown, outcome: unknown): void {
  if (!isUpdate) {
    assert.deepEqual(outcome, expected);
    return;
  }
  const document = parseYaml(text);
  document.set("expected", outcome);
  const updated = document.toString({ lineWidth: 0 });
  if (updated !== text) writeFileSync(path, updated);
}

function eachGolden<Golden>(folder: string, run: (path: string, text: string, golden: Golden) => void): void {
  for (const file of readdirSync(join(root, folder))) {
    it(file.replace(/\.yaml$/, "").replaceAll("-", " "), () => {
      const path = join(root, folder, file);
      const text = readFileSync(path, "utf8");
      run(path, text, parse(text) as Golden);
    });
  }
}

describe("golden: requests in other formats", () => {
  eachGolden<RequestGolden>("requests", (path, text, { given, expected }) => {
    check(
      path,
      text,
      expected,
      toEveryOther(given, (from, to, body) => sendTo(to, from, body)),
    );
  });
});

describe("golden: answers in other formats", () => {
  eachGolden<ReplyGolden>("replies", (path, text, { given, call, expected }) => {
    const clientBody = (client: ChatWireFormat): object => ({ ...smallestCalls[client], ...call?.[client] });
    const outcome = toEveryOther(given, (upstream, client, answer) =>
      typeof answer === "string"
        ? streamOf(upstream, client, clientBody(client), answer)
        : answerOf(upstream, client, clientBody(client), answer),
    );
    check(path, text, expected, outcome);
  });
});
