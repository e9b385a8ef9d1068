/**
 * Another gateway's translation cases, judged by their facts and not by equal JSON: what went in comes out here, and
 * where that gateway is known to be wrong (`known_divergence`) only the input counts.
 */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "mocha";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { routeTo, useTranslationRig } from "#test/support/conformance/translation-rig";
import { compare } from "#test/support/digest/compare";
import { type DigestProtocol, digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { explainAbsence } from "#test/support/digest/recorded";
import { compareRequests, digestRequest } from "#test/support/digest/request/request-digest";
import { knownCases } from "./known-case-losses.ts";

interface Case {
  readonly name: string;
  readonly kind: "request" | "response" | "stream";
  readonly from: DigestProtocol;
  readonly to: DigestProtocol;
  readonly input: unknown;
}

const root = path.join(
  process.env["TOLLGATE_FIXTURES"] ?? path.resolve(import.meta.dirname, "../../../../shared/fixtures"),
  "translation/agentgateway",
);

function readCases(): readonly Case[] {
  return globSync("*/*.json", { cwd: root })
    .sort()
    .map((file) => ({ ...JSON.parse(readFileSync(path.join(root, file), "utf8")), name: file.replace(/\.json$/, "") }));
}

describe("translation cases of another gateway", () => {
  if (!existsSync(root)) {
    it(explainAbsence("translation cases of another gateway"));
    return;
  }
  const rig = useTranslationRig({ upstreamObjects: "Shared" });
  const cases = readCases();

  for (const one of cases) {
    it(`keeps the facts of ${one.name}`, async () => {
      const differences = one.kind === "request" ? await askedDifferently(one) : await toldDifferently(one);
      const known = knownCases[one.name]?.facts ?? [];
      assert.deepEqual(
        differences.filter(({ level, fact }) => level === "must" && !known.includes(fact)),
        [],
      );
    });
  }

  async function ask({ from, to }: Case, body: unknown): Promise<HttpAnswer> {
    const form = callFormOf(from);
    rig().upstream.forget();
    rig().upstream.replyWith(naturalReply);
    return httpCall({
      origin: rig().gateway.origin,
      path: form.path(routeTo(to), false),
      headers: form.headers("main"),
      body: JSON.stringify(body),
    });
  }

  async function askedDifferently(one: Case): Promise<ReturnType<typeof compareRequests>> {
    const { from, to, input, name } = one;
    let body: unknown = { ...Object(input), ...(from === "gemini" ? {} : { model: routeTo(to) }) };
    const { refused, instead } = knownCases[name] ?? {};
    if (refused !== undefined) {
      const answer = await ask(one, body);
      assert.equal(answer.status, 400);
      assert.match(answer.body.toString(), refused);
      if (instead === undefined) return [];
      const text = instead.reduce((json, [part, by]) => {
        assert.ok(json.includes(part), part);
        return json.replace(part, by);
      }, JSON.stringify(body));
      body = JSON.parse(text);
    }
    const answer = await ask(one, body);
    assert.equal(answer.status, 200, answer.body.toString());
    return compareRequests(digestRequest(from, body), digestRequest(to, rig().upstream.requests[0]?.json()), to);
  }

  async function toldDifferently({ kind, from, to, input }: Case): Promise<ReturnType<typeof compare>> {
    const isStream = kind === "stream";
    const body = Buffer.from(isStream ? String(input) : JSON.stringify(input));
    const type = isStream ? "text/event-stream" : "application/json";
    rig().upstream.replyWith({ headers: { "content-type": type }, body });
    const answer = await rig().call(to, from, isStream);
    assert.equal(answer.status, 200, answer.body.toString());
    if (isStream) assert.deepEqual(checkGrammar(to, answer.body), []);
    return compare(digest(from, body), digest(to, answer.body), { sameProtocol: false, from, to });
  }

  it("has looked at every case", () => assert.equal(cases.length, 49));
});
