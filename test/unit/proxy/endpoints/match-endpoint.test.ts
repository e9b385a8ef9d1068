import assert from "node:assert/strict";
import fc from "fast-check";
import { matchEndpoint, protocolOfPath } from "#proxy/endpoints/match-endpoint";
import { GatewayError } from "#proxy/errors";
import { queryValues } from "#proxy/http/query-values";

/** What a request means, in one line; the error's code where it is refused. */
function describeTarget(method: string, url: string, headers: readonly string[] = []): string {
  try {
    const { endpoint, match } = matchEndpoint(method, url, headers);
    const parts = { ...match } as Readonly<Record<string, string | undefined>>;
    const { protocol, format, modelInPath, geminiStream, action, responseId, shape, verb } = parts;
    const { method: methodPassed, model, path } = parts;

    const words: Readonly<Record<string, readonly (string | undefined)[]>> = {
      chat: [protocol, format, modelInPath, geminiStream],
      "count-tokens": [protocol, "count", modelInPath],
      embeddings: [protocol, verb ?? format, modelInPath],
      "stored-responses": [protocol, action, responseId],
      rerank: [shape, "rerank"],
      "pass-through": [protocol, methodPassed, model, path],
      models: modelInPath === undefined ? [protocol, "models"] : [protocol, "model", modelInPath],
    };
    return (words[endpoint.name] ?? [endpoint.name]).filter(Boolean).join(" ");
  } catch (error) {
    assert.ok(error instanceof GatewayError, `not a GatewayError: ${String(error)}`);
    return error.allow === undefined ? error.code : `${error.code} ${error.allow}`;
  }
}

const gemini = ["X-Goog-Api-Key", "sk-a"];
const anthropic = ["Anthropic-Version", "2023-06-01"];

const accepted: [method: string, url: string, want: string, headers?: readonly string[]][] = [
  ["POST", "/v1/chat/completions", "OpenAI ChatCompletions"],
  ["POST", "/chat/completions", "OpenAI ChatCompletions"],
  ["POST", "/v1/v1/chat/completions", "OpenAI ChatCompletions"],
  ["POST", "/v1/chat/completions?api-version=1", "OpenAI ChatCompletions"],
  ["POST", "/v1/responses", "OpenAI Responses"],
  ["POST", "/responses", "OpenAI Responses"],
  ["POST", "/v1/v1/responses", "OpenAI Responses"],
  ["POST", "/v1/messages", "Anthropic Messages"],
  ["POST", "/v1/messages?beta=true", "Anthropic Messages"],
  ["POST", "/v1/v1/messages", "Anthropic Messages"],
  ["POST", "/v1/completions", "completions"],
  ["POST", "/completions", "completions"],
  ["POST", "/v1/rerank", "Jina rerank"],
  ["POST", "/rerank", "Jina rerank"],
  ["POST", "/v2/rerank", "Cohere rerank"],
  ["POST", "/v1/audio/speech", "speech"],
  ["POST", "/audio/speech", "speech"],
  ["POST", "/v1/v1/audio/speech", "speech"],
  ["POST", "/v1/audio/transcriptions", "transcriptions"],
  ["POST", "/audio/transcriptions", "transcriptions"],
  ["POST", "/v1/v1/audio/transcriptions", "transcriptions"],
  ["POST", "/v1/audio/translations", "translations"],
  ["POST", "/audio/translations", "translations"],
  ["POST", "/v1/messages/count_tokens", "Anthropic count"],
  ["POST", "/v1/messages/count_tokens?beta=true", "Anthropic count"],
  ["POST", "/v1/v1/messages/count_tokens", "Anthropic count"],
  ["POST", "/v1beta/models/g:countTokens", "Gemini count g"],
  ["POST", "/v1/models/maker/g:countTokens", "Gemini count maker/g"],
  ["POST", "/v1/images/generations", "image-generations"],
  ["POST", "/images/generations", "image-generations"],
  ["POST", "/v1/images/edits", "image-edits"],
  ["POST", "/v1/v1/images/edits?x=1", "image-edits"],
  ["POST", "/images/variations", "image-variations"],
  ["POST", "/v1beta/models/g:predict", "image-predictions"],
  ["POST", "/v1/embeddings", "OpenAI Embeddings"],
  ["POST", "/embeddings", "OpenAI Embeddings"],
  ["POST", "/v1/v1/embeddings", "OpenAI Embeddings"],
  ["POST", "/v1beta/models/g:embedContent", "Gemini embedContent g"],
  ["POST", "/v1/models/maker/g:batchEmbedContents", "Gemini batchEmbedContents maker/g"],
  ["GET", "/v1/responses/resp_1", "OpenAI read resp_1"],
  ["GET", "/responses/resp-1?include=x", "OpenAI read resp-1"],
  ["DELETE", "/v1/v1/responses/resp_1", "OpenAI delete resp_1"],
  ["GET", "/v1/responses/resp_1/input_items?limit=1", "OpenAI list-input resp_1"],
  ["GET", "/v1/realtime?model=m", "realtime"],
  ["GET", "/realtime", "realtime"],
  ["GET", "/v1/v1/realtime?intent=transcription", "realtime"],
  ["GET", "/v1/passthrough/files/files", "OpenAI GET files /files"],
  ["POST", "/passthrough/files/files?limit=1", "OpenAI POST files /files"],
  ["DELETE", "/v1/passthrough/a:b@c/x/y.z/w:v", "OpenAI DELETE a:b@c /x/y.z/w:v"],
  [
    "PATCH",
    "/v1/passthrough/files/v1beta/models/m:generateContent",
    "OpenAI PATCH files /v1beta/models/m:generateContent",
  ],
  ["GET", "/v1/models", "OpenAI models"],
  ["GET", "/models", "OpenAI models"],
  ["GET", "/v1/v1/models", "OpenAI models"],
  ["GET", "/v1/models?limit=5", "Anthropic models", anthropic],
  ["GET", "/models", "Anthropic models", ["x-api-key", "sk-a"]],
  ["GET", "/v1/models", "Anthropic models", ["vendorb-version", "2023-06-01"]],
  ["GET", "/v1/models", "Gemini models", gemini],
  ["GET", "/v1/models", "Gemini models", ["x-vendorc-api-key", "sk-a"]],
  ["GET", "/v1/models", "Gemini models", ["x-goog-api-client", "gl-node/24", ...anthropic]],
  ["GET", "/v1/models?key=sk-a", "Gemini models"],
  ["GET", "/v1beta/models", "Gemini models", anthropic],
  ["GET", "/v1alpha/models", "Gemini models"],
  ["GET", "/v1beta/v1beta/models", "Gemini models"],
  ["GET", "/v1/models/gpt-x", "OpenAI model gpt-x"],
  ["GET", "/v1/models/vendor/model-x", "OpenAI model vendor/model-x"],
  ["GET", "/v1/models/vendor%2Fmodel-x", "OpenAI model vendor/model-x"],
  ["GET", "/v1/models/llama3:8b", "OpenAI model llama3:8b"],
  ["GET", "/v1/models/claude-x", "Anthropic model claude-x", anthropic],
  ["GET", "/v1/models/models/g", "Gemini model g", gemini],
  ["GET", "/v1beta/models/g-1.5", "Gemini model g-1.5"],
  ["POST", "/v1beta/models/g:generateContent", "Gemini GenerateContent g"],
  ["POST", "/v1/models/g:generateContent", "Gemini GenerateContent g"],
  ["POST", "/v1alpha/models/g:generateContent", "Gemini GenerateContent g"],
  ["POST", "/v1beta/v1beta/models/g:generateContent", "Gemini GenerateContent g"],
  ["POST", "/v1beta/v1/models/g:generateContent", "Gemini GenerateContent g"],
  ["POST", "/v1/v1beta/models/g:generateContent?key=sk-a", "Gemini GenerateContent g"],
  ["POST", "/v1beta/models/models/g:generateContent", "Gemini GenerateContent g"],
  ["POST", "/v1beta/models/a/b:8k:generateContent", "Gemini GenerateContent a/b:8k"],
  ["POST", "/v1beta/models/a%2Fb%3A8k:generateContent", "Gemini GenerateContent a/b:8k"],
  ["POST", "/v1beta/models/g%2561:generateContent", "Gemini GenerateContent g%61"],
  ["POST", "/v1beta/models/g:streamGenerateContent", "Gemini GenerateContent g array"],
  ["POST", "/v1beta/models/g:streamGenerateContent?alt=json", "Gemini GenerateContent g array"],
  ["POST", "/v1beta/models/g:streamGenerateContent?alt=sse", "Gemini GenerateContent g sse"],
  ["POST", "/v1beta/models/g:streamGenerateContent?key=sk-a&$alt=sse&prettyPrint=true", "Gemini GenerateContent g sse"],
  ["POST", "/v1beta/models/g:streamGenerateContent?%24alt=sse", "Gemini GenerateContent g sse"],
];

const webSocket = ["Connection", "Upgrade", "Upgrade", "websocket"];
const refused: [method: string, url: string, want: string, headers?: string[]][] = [
  ["GET", "/v1/chat/completions", "method_not_allowed POST"],
  ["DELETE", "/v1/responses", "method_not_allowed POST"],
  ["GET", "/v1/responses", "upgrade_required POST", webSocket],
  ["GET", "/v1/v1/responses?model=m", "upgrade_required POST", webSocket],
  ["GET", "/v1/responses", "upgrade_required POST", ["Upgrade", "h2c, WebSocket"]],
  ["GET", "/v1/responses", "upgrade_required POST", ["Upgrade", "h2c", "upgrade", " websocket/13"]],
  ["GET", "/v1/responses", "method_not_allowed POST", ["Upgrade", "h2c", "Connection", "Upgrade"]],
  ["GET", "/v1/responses", "method_not_allowed POST", ["Upgrade", "websockets"]],
  ["PUT", "/v1/responses", "method_not_allowed POST", webSocket],
  ["GET", "/v1/chat/completions", "method_not_allowed POST", webSocket],
  ["GET", "/v1/messages", "method_not_allowed POST", webSocket],
  ["POST", "/v1/realtime?model=m", "method_not_allowed GET"],
  ["POST", "/v1/realtime", "method_not_allowed GET", webSocket],
  ["POST", "/v1/responses/resp_1", "method_not_allowed GET, DELETE"],
  ["DELETE", "/v1/responses/resp_1/input_items", "method_not_allowed GET"],
  ["HEAD", "/v1/messages", "method_not_allowed POST"],
  ["POST", "/v1/models", "method_not_allowed GET"],
  ["HEAD", "/v1/models/x", "method_not_allowed GET"],
  ["DELETE", "/v1/models/ft:x", "method_not_allowed GET"],
  ["GET", "/v1beta/models/g:generateContent", "method_not_allowed POST"],
  ["HEAD", "/v1/passthrough/files/files", "method_not_allowed GET, POST, PUT, PATCH, DELETE"],
  ["OPTIONS", "/v1/passthrough/files/files", "method_not_allowed GET, POST"],
  ["GET", "/v1/passthrough/files/../files", "bad_request_target"],
  ["GET", "/v1/passthrough/files/./files", "bad_request_target"],
  ["GET", "/v1/passthrough/files//files", "bad_request_target"],
  ["GET", "/v1/passthrough/files/files/", "bad_request_target"],
  ["GET", "/v1/passthrough/files/%2e%2e", "bad_request_target"],
  ["GET", "/v1/passthrough/files/a%2Fb", "bad_request_target"],
  ["GET", "/v1/passthrough/files", "unknown_url"],
  ["GET", "/v1/passthrough/../files", "unknown_url"],
  ["GET", "/v1/passthrough/%66iles/files", "unknown_url"],
  ["GET", "/v1/v1/passthrough/files/files", "unknown_url"],
  ["OPTIONS", "/v1/chat/completions", "method_not_allowed GET, POST"],
  ["OPTIONS", "*", "method_not_allowed GET, POST"],
  ["TRACE", "/v1/models", "method_not_allowed GET, POST"],
  ["CONNECT", "host:443", "method_not_allowed GET, POST"],
  ["post", "/v1/chat/completions", "method_not_allowed POST"],
  ...[
    "/",
    "/v1",
    "/v1/",
    "/V1/chat/completions",
    "/v1/Chat/completions",
    "/v1/chat/completions/",
    "/v1/chat/completions.",
    "/v1/chat/completions;x=1",
    "/v1/chat//completions",
    "/v1//chat/completions",
    "/v1/./chat/completions",
    "/v1/x/../chat/completions",
    "/./v1/chat/completions",
    "/../v1/chat/completions",
    "/v1/chat%2fcompletions",
    "/v1/chat%2Fcompletions",
    "/v1/ch%61t/completions",
    "/%761/chat/completions",
    "/v1/chat/completions%00",
    "/v1/chat/completions%20",
    "/v1/chat/completions%0a",
    "/v1/chat/%2e/completions",
    "/v1/chat/completions%3Fx",
    "/v1/%c0%afchat/completions",
    "/v1/v1/v1/chat/completions",
    "/v2/chat/completions",
    "/v1/chat/completions/abc",
    "/v2/rerank/",
    "/v2/completions",
    "/v1/audio/speech/",
    "/v1/audio/speeches",
    "/v1/audio",
    "/v1/images/generation",
    "/v1/images/edits/",
    "/v1/realtime/client_secrets",
    "/v1/realtime/",
    "/v1/responses/resp_1/cancel",
    "/v1/responses/resp.1",
    "/v1/responses/resp_1%2f..",
    "/v1/responses/input_tokens",
    "/v1/responses/compact",
    "/v1/messages/batches",
    "/v1/messages/",
    "/messages",
    "/v1/files",
    "/v1beta",
    "/v1beta/",
    "/v1beta/models/",
    "/v1beta/models:generateContent",
    "/v1beta/models/g:asyncBatchEmbedContent",
    "/v1beta/models/g:predictLongRunning",
    "/v1beta/models/g:GenerateContent",
    "/v1beta/models/g:generateContent/",
    "/v1beta/models/g:generatecontent",
    "/v1beta/models/g%3AgenerateContent",
    "/v1beta/models/:generateContent",
    "/v1beta/models/../x:generateContent",
    "/v1beta/models/a/./b:generateContent",
    "/v1beta/models/a//b:generateContent",
    "/v1beta/models/%2e%2e/x:generateContent",
    "/v1beta/tunedModels/g:generateContent",
    "/v1beta/openai/chat/completions",
    "/models/g:generateContent",
    "/v1beta/v1beta/v1beta/models/g:generateContent",
    "/metrics",
    "/healthz",
    "/debug/config",
    "/__proto__",
    "/constructor",
  ].map((url): [string, string, string] => {
    const isModelPath = /^\/(v1beta\/models\/g(:generateContent\/|%3A)|models\/g)/.test(url);
    return ["POST", url, isModelPath && !url.includes(":") ? "method_not_allowed GET" : "unknown_url"];
  }),
  ...[
    "",
    "v1/chat/completions",
    "*",
    "//v1/chat/completions",
    "//evil.example/v1/chat/completions",
    "http://evil.example/v1/chat/completions",
    "https://localhost/v1/models",
    "/v1/chat/completions#x",
    "/v1/chat/completions?x#y",
    "/v1\\chat\\completions",
    "/v1/chat/completions\\",
    "/v1/chat/completions ",
    "/v1/chat/completions\t",
    "/v1/chat/completions\u0000",
    "/v1/chat/complet\u00efons",
    "/v1/models/\u212aimi",
    "/v1beta/models/g%zz:generateContent",
    "/v1beta/models/g%:generateContent",
    "/v1beta/models/%c0%af:generateContent",
    "/v1beta/models/%ed%a0%80:generateContent",
    "/v1beta/models/g%00:generateContent",
    "/v1beta/models/g%20h:generateContent",
    "/v1beta/models/g%5ch:generateContent",
    "/v1beta/models/g%0d%0ax:generateContent",
  ].map((url): [string, string, string] => ["POST", url, "bad_request_target"]),
  ["POST", `/v1/chat/completions?x=${"a".repeat(8 * 1024)}`, "target_too_long"],
  ["POST", "/v1beta/models/g:streamGenerateContent?alt=proto", "invalid_value"],
  ["POST", "/v1beta/models/g:streamGenerateContent?alt=sse&alt=json", "invalid_value"],
  ["POST", "/v1beta/models/g:streamGenerateContent?alt=sse&$alt=json", "invalid_value"],
];

describe("matchEndpoint", () => {
  for (const [method, url, want, headers] of accepted) {
    it(`reads ${method} ${url}${headers === undefined ? "" : ` with ${headers[0]}`} as ${want}`, () => {
      assert.equal(describeTarget(method, url, headers), want);
    });
  }

  for (const [method, url, want, headers] of refused) {
    const asked = headers === undefined ? "" : ` and ${headers.join(" ")}`;
    it(`responds to ${method} ${JSON.stringify(url.slice(0, 60))}${asked} with ${want}`, () => {
      assert.equal(describeTarget(method, url, headers), want);
    });
  }

  it("takes no string that is one edit away from an accepted POST path", () => {
    const paths = accepted.filter(([method, url]) => method === "POST" && !/[?:]/.test(url)).map(([, url]) => url);
    const path = fc.constantFrom(...paths);
    const character = fc.constantFrom(..."/.%;\\ vV1aA~\u0000\u00e9");
    fc.assert(
      fc.property(path, fc.nat(), fc.nat(1), character, (whole, position, removed, inserted) => {
        const at = position % (whole.length + 1);
        const edited = whole.slice(0, at) + inserted + whole.slice(at + removed);
        if (paths.includes(edited)) return;
        assert.match(describeTarget("POST", edited), /^(unknown_url|bad_request_target)$/);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("protocolOfPath", () => {
  const rows: [url: string, want: string, headers?: readonly string[]][] = [
    ["/v1/chat/completions", "OpenAI", ["x-api-key", "sk-a"]],
    ["/v1/embeddings", "OpenAI"],
    ["/nowhere", "OpenAI", anthropic],
    ["", "OpenAI"],
    ["\u0000#%zz", "OpenAI"],
    ["/v1/messages", "Anthropic"],
    ["/v1/messages/count_tokens?beta=true", "Anthropic"],
    ["/v1/v1/messages/batches", "Anthropic"],
    ["/v1/messagesx", "OpenAI"],
    ["/v1beta/models/g:generateContent", "Gemini"],
    ["/v1beta/%zz", "Gemini"],
    ["/v1beta", "Gemini"],
    ["/v1alpha/files", "Gemini"],
    ["/v1/v1beta/models", "Gemini"],
    ["/v1betax", "OpenAI"],
    ["/v1/models/g:countTokens", "Gemini"],
    ["/v1/models/g:streamGenerateContent?alt=sse", "Gemini"],
    ["/v1/models/llama3:8b", "OpenAI"],
    ["/v1/models", "OpenAI"],
    ["/v1/models", "Anthropic", ["X-Api-Key", "sk-a"]],
    ["/v1/models", "Gemini", gemini],
  ];
  for (const [url, want, headers] of rows) {
    it(`gives ${JSON.stringify(url)}${headers === undefined ? "" : ` with ${headers[0]}`} the shape of ${want}`, () => {
      assert.equal(protocolOfPath(url, headers ?? []), want);
    });
  }

  it("never throws, and agrees with every endpoint matched", () => {
    const part = fc.constantFrom(
      "/v1",
      "/v1beta",
      "/models",
      "/messages",
      "/chat/completions",
      "/g",
      ":generateContent",
    );
    const url = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(
        url,
        fc.constantFrom("GET", "POST"),
        fc.constantFrom([], gemini, anthropic),
        (target, method, headers) => {
          const protocol = protocolOfPath(target, headers);
          const described = describeTarget(method, target, headers);
          if (!/^[a-z_]+( |$)/.test(described)) assert.ok(described.startsWith(protocol), `${described} for ${target}`);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

describe("queryValues", () => {
  const rows: [url: string, want: string[]][] = [
    ["/x", []],
    ["/x?", []],
    ["/x?key=a", ["a"]],
    ["/x?key=a&key=b", ["a", "b"]],
    ["/x?a=1&key=b%20c", ["b%20c"]],
    ["/x?key", [""]],
    ["/x?key=a=b", ["a=b"]],
    ["/x?key[]=a&key%5B%5D=b&Key=c&%6bey=d&xkey=e&keys=f", []],
    ["/x?a=1?key=b", []],
    ["/x?a=1;key=b", []],
  ];
  for (const [url, want] of rows) {
    it(`finds ${JSON.stringify(want)} in ${url}`, () => assert.deepEqual(queryValues(url, "key"), want));
  }
});
