/** A client of a translated stream hears that its answer lives while the upstream says nothing, or nothing for it. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { describe, it } from "mocha";
import { callFormOf } from "../../support/conformance/chat-calls.ts";
import { protocols, routeTo, useTranslationRig } from "../../support/conformance/translation-rig.ts";
import type { DigestProtocol } from "../../support/digest/facts.ts";
import { waitFor } from "../../support/wait-for.ts";

const events = { "content-type": "text/event-stream" };
const chatBeginning = `data: ${JSON.stringify({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: { role: "assistant", content: "good morning" }, finish_reason: null }],
})}\n\n`;
const messagesBeginning = [
  {
    type: "message_start",
    message: { id: "msg_1", type: "message", role: "assistant", content: [], usage: { input_tokens: 3 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "good morning" } },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

/** What the upstream holds back behind its silence. */
const unsaid = "data: held back\n\n";

const signs: Readonly<Record<DigestProtocol, RegExp>> = {
  "openai-chat": /^: ?\w*$/gm,
  "openai-responses": /^: ?\w*$/gm,
  "anthropic-messages": /^event: ping$/gm,
  gemini: /^: ?\w*$/gm,
};

/** What a stream of each protocol says only when it ends. */
const endings: Readonly<Record<DigestProtocol, RegExp>> = {
  "openai-chat": /\[DONE\]|"finish_reason":"/,
  "openai-responses": /response\.(completed|incomplete|failed)/,
  "anthropic-messages": /message_(delta|stop)/,
  gemini: /finishReason/,
};

describe("silence in a translated stream", () => {
  const rig = useTranslationRig({}, { clientSilenceMs: 30 });

  for (const to of protocols) {
    it(`pitfall 7: is filled for ${to} clients by signs of life, again and again`, async () => {
      const from = to === "openai-chat" ? "anthropic-messages" : "openai-chat";
      const said = from === "openai-chat" ? chatBeginning : messagesBeginning;
      rig().upstream.replyWith({ headers: events, body: `${said}${unsaid}`, stallAt: Buffer.byteLength(said) });
      const calls = rig().upstream.requests.length;
      const stream = openStream(rig().gateway.origin, to, routeTo(from));
      try {
        await waitFor("the answer to begin", () => stream.text().includes("good morning"));
        const before = stream.text().match(signs[to])?.length ?? 0;
        await waitFor("three signs of life", () => (stream.text().match(signs[to])?.length ?? 0) >= before + 3);
        assert.equal(stream.status(), 200);
        assert.ok(!stream.text().includes("held back"), "bytes the upstream holds back reached the client");
        assert.doesNotMatch(stream.text(), endings[to], "a stream whose upstream is silent has not ended");
      } finally {
        stream.leave();
      }
      await waitFor("the ledger to hold nothing", () => rig().gateway.ledger.openCount === 0);
      assert.equal(rig().upstream.requests.length, calls + 1, "silence is no reason for a second attempt");
    });
  }
});

function openStream(
  origin: string,
  to: DigestProtocol,
  model: string,
): {
  status(): number | undefined;
  text(): string;
  leave(): void;
} {
  const form = callFormOf(to);
  const { hostname, port } = new URL(origin);
  const headers = { ...form.headers("main"), "content-type": "application/json" };
  let status: number | undefined;
  let text = "";
  const sent = request({ hostname, port, path: form.path(model, true), method: "POST", headers }, (response) => {
    status = response.statusCode;
    response.on("data", (piece: Buffer) => {
      text += piece.toString();
    });
    response.on("error", () => undefined);
  });
  sent.on("error", () => undefined);
  sent.end(JSON.stringify(form.body(model, true)));
  return { status: () => status, text: () => text, leave: () => sent.destroy() };
}
