/**
 * pitfall 158: Claude Code's attribution line, whose hash changes with each request, reaches no upstream of another
 * format.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useTranslationRig } from "#test/support/conformance/translation-rig";

const line = (hash: string) => `x-anthropic-billing-header: cc_version=2.1.9.abc; cc_entrypoint=cli; cch=${hash};`;
const forms: readonly (readonly [name: string, system: (hash: string) => unknown])[] = [
  [
    "a block of its own",
    (hash) => [
      { type: "text", text: line(hash) },
      { type: "text", text: "You are X", cache_control: { type: "ephemeral" } },
    ],
  ],
  ["a block with other text", (hash) => [{ type: "text", text: `${line(hash)}\nYou are X` }]],
  ["a string with other text", (hash) => `${line(hash)}\nYou are X`],
];

describe("pitfall 158: Claude Code's attribution line", () => {
  const rig = useTranslationRig();

  async function sent(
    to: "openai-chat" | "openai-responses" | "gemini" | "anthropic-messages",
    system: unknown,
    stream = false,
  ) {
    const answer = await rig().call("anthropic-messages", to, stream, { system });
    return {
      body: String(rig().upstream.requests.at(-1)?.body),
      dropped: String(answer.headers["x-tollgate-dropped"]),
    };
  }

  for (const to of ["openai-chat", "openai-responses", "gemini"] as const) {
    for (const [name, system] of forms) {
      for (const stream of [false, true]) {
        it(`${to}${stream ? ", streamed" : ""}: ${name} is left out, and two turns are alike`, async () => {
          const [first, second] = [await sent(to, system("71fea"), stream), await sent(to, system("0aaa9"), stream)];
          assert.equal(first.body, second.body);
          assert.doesNotMatch(first.body, /billing/);
          assert.match(first.body, /"You are X"/);
          assert.doesNotMatch(first.dropped, /system\.0(?!\.cache)|system$/);
        });
      }
    }

    it(`${to}: alone as a string it leaves no system text`, async () => {
      assert.doesNotMatch((await sent(to, line("71fea"))).body, /billing|system/i);
    });

    it(`${to}: elsewhere in the text it is text`, async () => {
      assert.match((await sent(to, `Say "${line("71fea")}"`)).body, /billing/);
    });
  }

  it("anthropic-messages: the same format is untouched", async () => {
    const system = [{ type: "text", text: line("71fea") }];
    assert.deepEqual(JSON.parse((await sent("anthropic-messages", system)).body).system, system);
  });
});
