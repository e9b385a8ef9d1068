/**
 * Headers both ways, by allow-list: no client header chooses an upstream, its credential or its framing; no upstream
 * header that names an account, sets state or counts somebody else's limits reaches a client (docs/design/errors.md 3).
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { callForms } from "#test/support/conformance/chat-calls";
import {
  channelManifest,
  channelSecret,
  clientKey,
  keyManifest,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";

const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1,b=2" };

/** What clients send and no upstream may see; the mark finds a value wherever it went. */
const mark = "mark-of-the-client";
const foreign: Readonly<Record<string, string>> = {
  cookie: `session=${mark}`,
  "user-agent": mark,
  referer: `https://${mark}.example`,
  origin: `https://${mark}.example`,
  "x-forwarded-for": "203.0.113.9",
  "x-forwarded-host": mark,
  "x-real-ip": "203.0.113.9",
  forwarded: `for=${mark}`,
  via: `1.1 ${mark}`,
  "openai-organization": mark,
  "openai-project": mark,
  "x-stainless-lang": mark,
  "x-goog-api-client": mark,
  "x-goog-user-project": mark,
  "x-server-timeout": mark,
  "api-key": mark,
  "proxy-authorization": `Basic ${mark}`,
  "x-upstream": mark,
  "accept-language": mark,
  "content-language": mark,
  "idempotency-key": mark,
  accept: `text/${mark}`,
  "accept-encoding": "br",
};

/** What providers send and no client may see. */
const accountMark = "mark-of-the-account";
const private_: Readonly<Record<string, string>> = {
  "set-cookie": `session=${accountMark}`,
  server: accountMark,
  via: accountMark,
  "cf-ray": accountMark,
  "openai-organization": accountMark,
  "openai-project": accountMark,
  "anthropic-organization-id": accountMark,
  "anthropic-workspace-id": accountMark,
  "x-goog-quota": accountMark,
  "x-ratelimit-limit-requests": "999999",
  "x-ratelimit-remaining-tokens": "999999",
  "anthropic-ratelimit-requests-limit": "999999",
  "request-id": accountMark,
  "x-request-id": accountMark,
  "x-should-retry": "true",
  "retry-after": "7",
  "x-unknown": accountMark,
  "access-control-allow-origin": "*",
  "strict-transport-security": "max-age=1",
  "alt-svc": accountMark,
};

describe("headers through the gateway", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("plain", origin),
    routeManifest("plain"),
    channelManifest("edited", origin, {
      headers: {
        set: [
          { name: "X-Team", value: "search" },
          { name: "Traceparent", value: "own" },
        ],
        remove: ["tracestate"],
      },
    }),
    routeManifest("edited"),
    channelManifest("query", origin, { auth: { location: { query: "key" }, scheme: "Raw" } }),
    routeManifest("query"),
    channelManifest("own", origin, { auth: { location: { header: "x-api-key" }, scheme: "Raw" } }),
    routeManifest("own"),
  ]);

  for (const form of callForms) {
    const isMessages = form.protocol === "anthropic-messages";

    it(`sends upstream exactly its own headers and the trace, in ${form.format}`, async () => {
      const { received } = await capture().send({ form, model: "plain", headers: { ...foreign, ...trace } });
      const names = Object.keys(received?.headers ?? {}).sort();
      const own = [
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
      ];
      const passed = ["traceparent", "tracestate", "user-agent", ...(isMessages ? ["anthropic-version"] : [])];
      assert.deepEqual(
        names.filter((name) => name !== "connection"),
        [...own, ...passed].filter((name) => name !== "connection").sort(),
      );
      assert.equal(received?.headers["authorization"], `Bearer ${channelSecret}`);
      assert.equal(received?.headers["user-agent"], "tollgate");
      assert.equal(received?.headers["accept-encoding"], "identity");
      assert.equal(received?.headers["content-type"], "application/json");
      assert.equal(received?.headers["traceparent"], trace.traceparent);
      assert.equal(received?.headers["tracestate"], trace.tracestate);
      const all = `${received?.target} ${received?.rawHeaders.join(" ")}`;
      for (const secret of [mark, "203.0.113.9", clientKey("main")]) assert.equal(all.includes(secret), false, secret);
    });

    it(`writes the trace to the access log, in ${form.format}`, async () => {
      for (const [headers, want] of [
        [trace, trace.traceparent],
        [{ traceparent: mark }, undefined],
      ] as const) {
        const { answer } = await capture().send({ form, model: "plain", headers });
        const record = await capture().gateway.recordOf(String(answer.headers["x-request-id"]));
        assert.equal(record.traceparent, want);
      }
    });

    it(`sets and removes what the channel says, in ${form.format}`, async () => {
      const { received } = await capture().send({ form, model: "edited", headers: { ...trace, "x-team": "client" } });
      assert.equal(received?.headers["x-team"], "search");
      assert.equal(received?.headers["traceparent"], "own");
      assert.equal("tracestate" in (received?.headers ?? {}), false);
    });

    it(`puts the upstream's credential where its channel says, in ${form.format}`, async () => {
      const inQuery = await capture().send({ form, model: "query" });
      assert.match(inQuery.received?.target ?? "", new RegExp(`[?&]key=${channelSecret}$`));
      assert.equal("authorization" in (inQuery.received?.headers ?? {}), false);
      const inHeader = await capture().send({ form, model: "own" });
      assert.equal(inHeader.received?.headers["x-api-key"], channelSecret);
      assert.equal("authorization" in (inHeader.received?.headers ?? {}), false);
    });

    for (const stream of [false, true]) {
      it(`lets no header of the account through, in ${form.format}${stream ? ", streamed" : ""}`, async () => {
        const { upstream } = capture();
        upstream.replyWith((request) => {
          const reply = naturalReply(request);
          return { ...reply, headers: { ...private_, ...reply.headers } };
        });
        const { answer } = await capture().send({ form, model: "plain", stream });
        upstream.replyWith(naturalReply);
        assert.equal(answer.status, 200);
        const id = answer.header("x-request-id");
        assert.equal(answer.header("request-id"), id);
        assert.match(id ?? "", /^req_/);
        const shown = JSON.stringify(answer.headers);
        assert.equal(shown.includes(accountMark), false, shown);
        assert.equal(shown.includes("999999"), false, shown);
        const allowed = ["cache-control", "connection", "content-length", "content-type", "date", "keep-alive"];
        const ours = ["request-id", "transfer-encoding", "x-accel-buffering", "x-request-id"];
        for (const name of Object.keys(answer.headers)) assert.equal([...allowed, ...ours].includes(name), true, name);
      });
    }
  }

  const messages = callForms.find(({ format }) => format === "Messages") ?? assert.fail("no messages");
  for (const row of [
    { name: "the version as given", sent: { "anthropic-version": "2026-10-21" }, arrives: "2026-10-21" },
    {
      name: "the interface's neutral spelling",
      sent: { "anthropic-version": [], "vendorb-version": "2024-01-01" },
      arrives: "2024-01-01",
    },
    { name: "the oldest version where none is given", sent: { "anthropic-version": [] }, arrives: "2023-06-01" },
  ]) {
    it(`sends ${row.name}`, async () => {
      const { received } = await capture().send({ form: messages, model: "plain", headers: row.sent });
      assert.equal(received?.headers["anthropic-version"], row.arrives);
      assert.equal("vendorb-version" in (received?.headers ?? {}), false);
    });
  }

  it("refuses two versions that differ, and one that is no date", async () => {
    for (const headers of [{ "vendorb-version": "2024-01-01" }, { "anthropic-version": "latest" }]) {
      const { answer, received } = await capture().send({ form: messages, model: "plain", headers });
      assert.equal(answer.status, 400);
      assert.equal(received, undefined);
    }
  });

  it("passes beta names that are names, each once", async () => {
    const headers = { "anthropic-beta": ["context-1m-2025-08-07, files-api", "files-api,<script>"] };
    const { received } = await capture().send({ form: messages, model: "plain", headers });
    assert.equal(received?.headers["anthropic-beta"], "context-1m-2025-08-07,files-api");
  });
});
