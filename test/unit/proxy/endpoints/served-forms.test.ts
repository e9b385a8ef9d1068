import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { completionFormats } from "#proxy/endpoints/completions/completion-formats";
import { embeddingDialects } from "#proxy/endpoints/embeddings/dialects/embedding-dialects";
import type { Endpoint } from "#proxy/endpoints/endpoint";
import { endpoints } from "#proxy/endpoints/endpoints";
import { imageFormatsFor } from "#proxy/endpoints/images/dialects/image-dialects";
import { moderationDialects } from "#proxy/endpoints/moderations/open-ai-dialect";
import { servedForms } from "#proxy/endpoints/served-forms";
import { speechDialects } from "#proxy/endpoints/speech/speech-dialects";
import { transcriptDialects } from "#proxy/endpoints/transcripts/transcript-dialects";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import type { WireFormat } from "#proxy/snapshot/types.gen";

/** What is tried for a client's format, as the code that chooses targets says it. */
const tried: Readonly<Record<string, (client: string) => readonly WireFormat[]>> = {
  chat: (client) => {
    const own = (["ChatCompletions", "Responses", "Messages", "GenerateContent"] as const).find(
      (one) => one === client,
    );
    return own === undefined ? [] : chatFormatsFor(own);
  },
  "count-tokens": () => ["CountTokens"],
  "stored-responses": () => ["Responses"],
  moderations: () => moderationDialects.formatsFor(given("Moderations")),
  embeddings: (client) => embeddingDialects.formatsFor(given(client)),
  speech: () => speechDialects({ eventBytesMax: 1, isMeasured: false }).formatsFor(given("Speech")),
  transcriptions: (client) => transcriptDialects(1).formatsFor(given(client)),
  translations: (client) => transcriptDialects(1).formatsFor(given(client)),
  completions: () => completionFormats,
  rerank: () => ["Rerank"],
  "image-generations": imagesTried,
  "image-edits": imagesTried,
  "image-variations": imagesTried,
  "image-predictions": imagesTried,
  "pass-through": () => ["Passthrough"],
  realtime: () => ["Realtime"],
};

function imagesTried(client: string): readonly WireFormat[] {
  return imageFormatsFor(client as WireFormat, "");
}

/** As far as a call's format decides. */
function given<Call>(format: string): Call {
  return { endpoint: { format } } as Call;
}

describe("servedForms()", () => {
  for (const endpoint of endpoints.filter(({ channelFormats }) => channelFormats.length > 0)) {
    for (const { client, native, converted } of servedForms(endpoint)) {
      it(`says of ${endpoint.name} for clients of ${client} what is tried`, () => {
        const said = new Set([...native, ...converted].map(({ format }) => format));
        assert.deepEqual([...said].sort(), [...(tried[endpoint.name]?.(client) ?? [])].sort());
        assert.deepEqual([...new Set(native.map(({ format }) => String(format)))], [client]);
        assert.ok(converted.every(({ format, dialect }) => format !== client || dialect !== undefined));
      });
    }
  }

  it("says nothing of an endpoint that asks no upstream", () => {
    const [lists] = endpoints.filter(({ name }) => name === "models");
    assert.deepEqual(lists && servedForms(lists), []);
  });

  it("tells the shapes of other vendors from the client's own", () => {
    const of = (name: string): Endpoint | undefined => endpoints.find((one) => one.name === name);
    const embeddings = of("embeddings");
    assert.ok(embeddings !== undefined);
    const [openAI, google] = servedForms(embeddings);
    assert.deepEqual(openAI?.native, [{ format: "Embeddings", dialect: "OpenAI" }]);
    assert.equal(openAI?.converted.length, 5);
    assert.deepEqual(google?.native, [{ format: "EmbedContent" }]);
    assert.equal(google?.converted.length, 5);
  });
});
