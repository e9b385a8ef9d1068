/** `/v1/passthrough/{model}/{path}`: named paths go to the upstream as they are, restricted, charged and limited. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecret,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";
import { FakeUpstream, type ReceivedRequest } from "#test/support/fake-upstream";

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const cut = { framing: "length", cutAt: 100_000 } as const;
const page = "x".repeat(300_000);

describe("calls that are passed on", () => {
  let upstream: FakeUpstream;
  let other: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    other = await FakeUpstream.start();
    const capabilities = ["Passthrough"];
    const files = { type: "Passthrough", paths: ["/files", "/files/{id}", "/files/{id}/content", "/models/{m}:embed"] };
    const targets = [{ name: "main", channelRef: { name: "files" } }];
    const manifests = manifestOf(
      keyManifest("k"),
      keyManifest("named", { capabilities: ["Passthrough"], models: { allow: ["files"] } }),
      keyManifest("chat-only", { capabilities: ["Chat"] }),
      keyManifest("elsewhere", { models: { allow: ["gpt-*"] } }),
      keyManifest("anthropic", { protocols: ["Anthropic"] }),
      keyManifest("far", { clientCIDRs: { allow: ["10.0.0.0/8"] } }),
      keyManifest("once", { limits: [{ name: "once", unit: "Requests", limit: "1", period: "Lifetime" }] }),
      keyManifest("poor", { limits: [{ name: "quota", unit: "Cost", limit: "0.6", period: "Lifetime" }] }),
      keyManifest("rich", { limits: [{ name: "quota", unit: "Cost", limit: "100", period: "Lifetime" }] }),
      keyManifest("wordless", { limits: [{ name: "out", unit: "OutputTokens", limit: "100", period: "Lifetime" }] }),
      channelSecretManifest(),
      channelManifest("files", upstream.origin, {
        formats: [{ type: "ChatCompletions" }, files],
        headers: { set: [{ name: "x-team", value: "red" }] },
      }),
      channelManifest("query", upstream.origin, {
        formats: [{ type: "Passthrough", paths: ["/files"] }],
        auth: { location: { query: "sig" }, scheme: "Raw" },
      }),
      channelManifest("spare", other.origin, { formats: [{ type: "Passthrough", paths: ["/files", "/jobs"] }] }),
      routeManifest("files", { capabilities, price: { perRequest: "0.5" } }),
      routeManifest("priced", {
        capabilities,
        targets,
        price: { perRequest: "0.5", inputPerMillion: "1", outputPerMillion: "2" },
      }),
      routeManifest("free", { capabilities, targets, price: { inputPerMillion: "1" } }),
      routeManifest("chatter", { targets }),
      routeManifest("query", { capabilities }),
      routeManifest("pair", {
        capabilities,
        targets: [
          { name: "first", channelRef: { name: "files" }, priority: 0 },
          { name: "second", channelRef: { name: "spare" }, priority: 1 },
        ],
      }),
    );
    gateway = await InProcessGateway.start({ manifests });
  });
  afterEach(() => {
    upstream.forget();
    other.forget();
    upstream.replyWith({ body: "{}" });
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
    await other?.close();
  });

  interface Options {
    readonly key?: string;
    readonly method?: string;
    readonly body?: string | Buffer;
    readonly headers?: Readonly<Record<string, string | string[]>>;
  }

  function pass(path: string, { key = "k", method, body, headers }: Options = {}): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      path: path.startsWith("/v1/") ? path : `/v1/passthrough${path}`,
      headers: { authorization: `Bearer ${clientKey(key)}`, ...headers },
      ...(method === undefined ? {} : { method }),
      ...(body === undefined ? {} : { body }),
    });
  }

  function received(): ReceivedRequest {
    const [request] = upstream.requests;
    assert.ok(request !== undefined, "no request reached the upstream");
    return request;
  }

  for (const row of [
    { method: "GET", path: "/files" },
    { method: "GET", path: "/files/file-abc.1_2~3" },
    { method: "DELETE", path: "/files/file-abc" },
    { method: "GET", path: "/files/file-abc/content" },
    { method: "PUT", path: "/files/file-abc", body: "whole" },
    { method: "PATCH", path: "/files/file-abc", body: "part" },
    { method: "POST", path: "/models/text-1:embed", body: "{}" },
  ]) {
    it(`${row.method} ${row.path} reaches the upstream with its body and the channel's credential`, async () => {
      const answer = await pass(`/files${row.path}`, row);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.deepEqual([received().method, received().target], [row.method, `/v1${row.path}`]);
      assert.equal(received().body.toString(), row.body ?? "");
      assert.equal(received().headers["authorization"], `Bearer ${channelSecret}`);
      assert.equal(received().headers["x-team"], "red");
      assert.ok(!received().rawHeaders.join("\n").includes(clientKey("k")));
    });
  }

  it("passes a form with a file on byte for byte, and the reply with its own status and type", async () => {
    const body = Buffer.concat([
      Buffer.from("--b\r\nx\r\n\r\n"),
      Buffer.from([0, 255, 13, 10]),
      Buffer.from("\r\n--b--"),
    ]);
    const sound = Buffer.from([1, 2, 3, 250]);
    upstream.replyWith({ status: 201, body: sound, headers: { "content-type": "audio/mpeg" } });
    const answer = await pass("/files/files", {
      method: "POST",
      body,
      headers: { "content-type": "multipart/form-data; boundary=b" },
    });
    assert.deepEqual([answer.status, answer.header("content-type")], [201, "audio/mpeg"]);
    assert.deepEqual(answer.body, sound);
    assert.deepEqual(received().body, body);
    assert.equal(received().headers["content-type"], "multipart/form-data; boundary=b");
  });

  it("passes a reply without a body, a long one and an empty one", async () => {
    upstream.replyWith({ status: 204, raw: "HTTP/1.1 204 No Content\r\n\r\n" });
    const none = await pass("/files/files/file-1", { method: "DELETE" });
    assert.deepEqual([none.status, none.body.length, none.header("content-length")], [204, 0, undefined]);
    upstream.replyWith({ body: page, framing: "length" });
    const long = await pass("/files/files");
    assert.deepEqual([long.body.length, long.header("content-length")], [page.length, String(page.length)]);
    upstream.replyWith({ body: "", framing: "length" });
    assert.equal((await pass("/files/files")).body.length, 0);
    upstream.replyWith({ body: page, fragmentBytes: 100_000 });
    assert.equal((await pass("/files/files")).body.toString(), page);
  });

  it("undoes a compression that nobody asked for", async () => {
    const { gzipSync } = await import("node:zlib");
    upstream.replyWith({ body: gzipSync(page), headers: { "content-encoding": "gzip" } });
    const answer = await pass("/files/files");
    assert.equal(answer.body.toString(), page);
    assert.equal(answer.header("content-encoding"), undefined);
  });

  for (const [name, path] of [
    ["an unnamed path", "/files/batches"],
    ["what lies below a named path", "/files/files/file-1/content/raw"],
    ["the channel's chat path", "/files/chat/completions"],
    ["another verb", "/files/models/text-1:generateContent"],
    ["a colon in place of an id", "/files/files/a:b"],
    ["a trailing slash", "/files/files/"],
  ] as const) {
    it(`refuses ${name} with 404`, async () => {
      const answer = await pass(path);
      assert.equal(answer.status, path.endsWith("/") ? 400 : 404, answer.body.toString());
      assert.equal(upstream.requests.length, 0);
    });
  }

  for (const path of [
    "/files/files/../chat/completions",
    "/files/files/./x",
    "/files//files",
    "/files/files/%2e%2e/secrets",
    "/files/files%2Fx",
    "/files/files/a%20b",
    "/files/files\\..\\x",
    "/files/files/..",
    "/files/files#x",
  ]) {
    it(`refuses the path ${path} before any upstream is called`, async () => {
      const answer = await pass(path);
      assert.equal(answer.status, 400, answer.body.toString());
      assert.equal(at(answer.json(), "error", "code"), "invalid_url");
      assert.equal(upstream.requests.length, 0);
    });
  }

  it("passes the query on, without what could be a credential", async () => {
    const secret = clientKey("k");
    const query = `limit=20&key=${secret}&include%5B%5D=a&API_KEY=x&after=${secret}&e=${secret.replace("-", "%2D")}&order=a%20b&`;
    await pass(`/files/files?${query}`);
    assert.equal(received().target, "/v1/files?limit=20&include%5B%5D=a&order=a%20b");
  });

  it("lets nobody choose the credential that the channel has in its query", async () => {
    await pass("/query/files?sig=mine&SIG=mine&a=1");
    assert.equal(received().target, `/v1/files?a=1&sig=${channelSecret}`);
    assert.equal(received().headers["authorization"], undefined);
  });

  for (const query of ["%6bey=x", "a=%zz", "a=%", "=x", "a b=c"]) {
    it(`refuses the query ${query}`, async () => {
      const answer = await pass(`/files/files?${query.replace(" ", "%20")}`);
      assert.equal(answer.status, 400);
      assert.equal(at(answer.json(), "error", "param"), "query");
      assert.equal(upstream.requests.length, 0);
    });
  }

  it("lets named headers pass in both directions and no others", async () => {
    upstream.replyWith({
      body: "{}",
      headers: {
        "content-disposition": 'attachment; filename="a.jsonl"',
        "set-cookie": "session=1",
        "openai-organization": "org-secret",
        "openai-processing-ms": "12",
        location: "http://10.0.0.1/",
        "x-echo": channelSecret,
      },
    });
    const answer = await pass("/files/files", {
      headers: {
        accept: "application/jsonl",
        "openai-beta": "assistants=v2",
        "anthropic-version": "2023-06-01",
        cookie: "a=b",
        "x-api-key": clientKey("k"),
        "x-forwarded-for": "9.9.9.9",
        "openai-organization": "org-mine",
        "x-team": "blue",
        connection: "keep-alive, anthropic-version",
      },
    });
    const { headers } = received();
    assert.deepEqual(
      [
        "accept",
        "openai-beta",
        "anthropic-version",
        "cookie",
        "x-api-key",
        "x-forwarded-for",
        "openai-organization",
      ].map((name) => headers[name]),
      ["application/jsonl", "assistants=v2", undefined, undefined, undefined, undefined, undefined],
    );
    assert.equal(headers["x-team"], "red");
    assert.equal(answer.header("content-disposition"), 'attachment; filename="a.jsonl"');
    assert.equal(answer.header("openai-processing-ms"), "12");
    assert.equal(answer.header("x-content-type-options"), "nosniff");
    for (const name of ["set-cookie", "openai-organization", "location", "x-echo"]) {
      assert.equal(answer.header(name), undefined, name);
    }
  });

  it("keeps a credential that the upstream repeats in a header or an error from the client", async () => {
    const headers = {
      "content-type": `text/${channelSecret}`,
      "content-disposition": `attachment; x=${channelSecret}`,
    };
    upstream.replyWith({ body: "{}", headers });
    const answer = await pass("/files/files");
    assert.ok(!JSON.stringify(answer.headers).includes(channelSecret));
    assert.equal(answer.header("content-type"), "application/octet-stream");
    const message = `Bad thing with ${channelSecret} in it`;
    upstream.replyWith({ status: 400, body: JSON.stringify({ error: { message, type: "invalid_request_error" } }) });
    const refused = await pass("/files/files");
    assert.equal(refused.status, 400);
    assert.ok(!refused.body.includes(channelSecret), refused.body.toString());
  });

  for (const row of [
    { name: "a redirect", status: 302, headers: { location: "http://169.254.169.254/" }, want: 502 },
    { name: "a refused credential", status: 401, want: 503 },
    { name: "nothing at the path", status: 404, want: 404 },
    { name: "a server error", status: 500, want: 502 },
    { name: "a rate limit", status: 429, want: 429 },
  ]) {
    it(`tells ${row.name} of the upstream in the gateway's own words`, async () => {
      upstream.replyWith({ body: "upstream words", ...row });
      const answer = await pass("/files/files");
      assert.equal(answer.status, row.want, answer.body.toString());
      assert.ok(!answer.body.includes("upstream words"));
      assert.equal(upstream.requests.length, 1);
    });
  }

  for (const row of [
    { key: "chat-only", path: "/files/files", status: 403, code: "capability_not_allowed" },
    { key: "elsewhere", path: "/files/files", status: 403, code: "model_not_allowed" },
    { key: "anthropic", path: "/files/files", status: 403, code: "protocol_not_allowed" },
    { key: "far", path: "/files/files", status: 403, code: "ip_not_allowed" },
    { key: "named", path: "/priced/files", status: 403, code: "model_not_allowed" },
    { key: "rich", path: "/free/files", status: 403, code: "model_not_allowed" },
    { key: "k", path: "/chatter/files", status: 400, code: "unsupported_endpoint" },
    { key: "k", path: "/nothing/files", status: 404, code: "model_not_found" },
  ]) {
    it(`refuses ${row.path} to the key ${row.key} with ${row.code}`, async () => {
      const answer = await pass(row.path, row);
      assert.equal(answer.status, row.status, answer.body.toString());
      assert.equal(at(answer.json(), "error", "code"), row.code);
      assert.equal(upstream.requests.length, 0);
    });
  }

  it("refuses calls without a key, and methods that it does not pass on", async () => {
    const anonymous = await httpCall({ origin: gateway.origin, path: "/v1/passthrough/files/files" });
    assert.equal(anonymous.status, 401);
    const answer = await pass("/files/files", { method: "HEAD" });
    assert.deepEqual([answer.status, answer.header("allow")], [405, "GET, POST, PUT, PATCH, DELETE"]);
    assert.equal(upstream.requests.length, 0);
  });

  it("lets a key call what it names, and counts one request of its limits", async () => {
    assert.equal((await pass("/files/files", { key: "named" })).status, 200);
    assert.equal((await pass("/files/files", { key: "once" })).status, 200);
    const answer = await pass("/files/files", { key: "once" });
    assert.equal(answer.status, 429);
    assert.equal(upstream.requests.length, 2);
  });

  it("charges the request, and holds a key's ceiling", async () => {
    const answer = await pass("/files/files", { key: "poor" });
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.costNanos, 500_000_000n);
    assert.deepEqual([record.format, record.isEstimated, record.route], ["Passthrough", false, "default/files"]);
    const second = await pass("/files/files", { key: "poor" });
    assert.equal(at(second.json(), "error", "code"), "insufficient_quota");
    assert.equal(upstream.requests.length, 1);
  });

  const events = (...list: object[]): string => list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
  const chatCost = 500_000_000n + 1_000n * 1_000n + 500n * 2_000n;
  for (const row of [
    { name: "JSON", body: JSON.stringify({ id: "x", usage }) },
    { name: "JSON of a long reply", body: JSON.stringify({ data: page, usage }) },
    { name: "events", body: events({ a: 1 }, { usage }), type: "text/event-stream" },
    {
      name: "a message",
      body: JSON.stringify({ type: "message", usage: { input_tokens: 1000, output_tokens: 500 } }),
    },
    {
      name: "events of a message",
      body: events(
        { type: "message_start", message: { usage: { input_tokens: 1000, output_tokens: 1 } } },
        { type: "message_delta", usage: { output_tokens: 500 } },
      ),
      type: "text/event-stream",
    },
    {
      name: "a response object",
      body: JSON.stringify({ object: "response", usage: { input_tokens: 1000, output_tokens: 500 } }),
    },
    {
      name: "contents",
      body: JSON.stringify({ usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 500 } }),
    },
  ]) {
    it(`charges the usage that ${row.name} reports`, async () => {
      upstream.replyWith({
        body: row.body,
        headers: { "content-type": row.type ?? "application/json" },
        fragmentBytes: 5_000,
      });
      const answer = await pass("/priced/files", { method: "POST", body: "{}", key: "rich" });
      assert.equal(answer.body.toString(), row.body);
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(record.costNanos, chatCost);
    });
  }

  it("charges what a job took with its POST, and no more each time that it is asked after", async () => {
    upstream.replyWith({ body: JSON.stringify({ id: "batch_1", status: "completed", usage }) });
    const answer = await pass("/priced/files", { key: "rich" });
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.costNanos, 500_000_000n);
  });

  it("reserves the tokens of a JSON body, whatever its type is called", async () => {
    for (const type of ["application/json", "text/plain", "application/vnd.api+json"]) {
      for (const body of ["{}", " [1]"]) {
        const options = { key: "wordless", method: "POST", body, headers: { "content-type": type } };
        const answer = await pass("/priced/files", options);
        assert.deepEqual([answer.status, at(answer.json(), "error", "code")], [429, "insufficient_quota"]);
      }
    }
    assert.equal(upstream.requests.length, 0);
    const answer = await pass("/priced/files", { key: "wordless", method: "POST", body: "a file" });
    assert.equal(answer.status, 200, answer.body.toString());
  });

  it("charges the request alone where a reply reports nothing", async () => {
    upstream.replyWith({ body: '{"text":"\\"usage\\":{\\"prompt_tokens\\":7}"}' });
    const answer = await pass("/priced/files", { key: "rich" });
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.costNanos, 500_000_000n);
  });

  it("asks the next target where the first was not reached or refused, and sends nothing twice that may have run", async () => {
    upstream.replyWith({ status: 500, body: "{}" });
    assert.equal((await pass("/pair/files")).status, 200, "reading again harms nobody");
    assert.equal(other.requests.length, 1);
    other.forget();
    assert.equal((await pass("/pair/files", { method: "POST", body: "{}" })).status, 502);
    assert.equal(other.requests.length, 0);
    upstream.replyWith({ status: 503, body: "{}" });
    assert.equal((await pass("/pair/files", { method: "POST", body: "{}" })).status, 200);
    assert.equal((await pass("/pair/jobs")).status, 200, "only the second channel names it");
    assert.equal(upstream.requests.length, 3);
  });

  for (const row of [
    { name: "of a known length", script: { body: page, ...cut } },
    { name: "in chunks", script: { body: page, cutAt: 100_000 } },
    { name: "in chunks, reset", script: { body: page, cutAt: 100_000, cutWith: "reset" } },
  ] as const) {
    it(`never ends a reply ${row.name} as if it were whole when the upstream breaks off`, async () => {
      upstream.replyWith(row.script);
      const answer = await pass("/files/files");
      assert.equal(answer.isComplete, false);
      assert.ok(answer.body.length <= 100_000);
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([record.end, record.costNanos], ["SD", 500_000_000n]);
    });
  }

  it("tells a short reply that broke off as an error", async () => {
    upstream.replyWith({ body: "0123456789", framing: "length", cutAt: 4 });
    const answer = await pass("/files/files");
    assert.equal(answer.status, 502);
    assert.equal(at(answer.json(), "error", "code"), "upstream_error");
  });

  it("is no model: lists leave its routes out", async () => {
    const listed = await httpCall({
      origin: gateway.origin,
      path: "/v1/models",
      headers: { authorization: `Bearer ${clientKey("k")}` },
    });
    assert.ok(listed.body.includes('"chatter"'));
    assert.ok(!listed.body.includes('"files"'), listed.body.toString());
  });
});
