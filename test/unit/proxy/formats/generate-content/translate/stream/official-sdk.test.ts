import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import type { Conversation } from "#proxy/neutral/conversation";
import { replayReply } from "#proxy/neutral/replay-reply";
import { genaiGenerations } from "#test/support/official-clients";
import { anyReply } from "#test/support/translation/any-reply";
import { contextOf, streamOf } from "#test/unit/proxy/formats/generate-content/translate/replay";

const shown: Partial<Conversation> = { reasoning: { mode: "on", show: true } };

describe("the stream writer of generateContent and the official SDK", () => {
  for (const { name, load } of genaiGenerations) {
    it(`${name} reads what any reply says, and its chat keeps the turn`, async function () {
      this.timeout(20_000);
      let body = "";
      const server = createServer((request, response) => {
        request.resume();
        response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const client = new (load())({ apiKey: "k", httpOptions: { baseUrl: `http://127.0.0.1:${port}` } });
        await fc.assert(
          fc.asyncProperty(anyReply, async (reply) => {
            body = streamOf(replayReply(reply), contextOf(shown));
            const chat = client.chats.create({ model: "m" });
            const parts = [];
            for await (const chunk of await chat.sendMessageStream({ message: "hi" })) {
              parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
            }
            const told = { thought: "", text: "", calls: [] as unknown[] };
            for (const part of parts) {
              if (part.thought === true) told.thought += part.text;
              else told.text += part.text ?? "";
              if (part.functionCall !== undefined) told.calls.push([part.functionCall.name, part.functionCall.args]);
            }
            const want = { thought: "", text: "", calls: [] as unknown[] };
            for (const block of reply.candidates[0]?.blocks ?? []) {
              if (block.kind === "reasoning") want.thought += block.text;
              if (block.kind === "text") want.text += block.text;
              if (block.kind === "call") want.calls.push([block.name, JSON.parse(block.arguments)]);
            }
            assert.deepEqual(told, want);
            assert.ok(chat.getHistory(true).some(({ role }) => role === "model"));
          }),
          { numRuns: 40 },
        );
      } finally {
        server.close();
      }
    });
  }
});
