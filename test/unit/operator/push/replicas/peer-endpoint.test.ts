import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { createPeerEndpoint } from "#operator/push/replicas/peer-endpoint";
import { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import { writeSummary } from "#operator/push/replicas/summary";
import { ManualTimers } from "#test/support/manual-timers";

describe("createPeerEndpoint(), asked for what proxies lack", () => {
  let server: Server;
  let lacked: ReadonlySet<string>;

  before(async () => {
    const leadership = { isLeader: () => true, leaderAddress: () => undefined, onChange: () => () => {} };
    const summaries = new PeerSummaries(10_000, new ManualTimers());
    const app = express();
    app.use((_request, response, next) => {
      response.locals["identity"] = { pod: "operator-b" };
      next();
    });
    app.use(createPeerEndpoint({ leadership, summaries, onReport: () => {}, lacked: () => lacked }));
    server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => server.close());

  const summary = JSON.parse(writeSummary({ operator: "run-1", groups: [], joining: [], old: [] }));
  const { old: _, ...ofOlderVersion } = summary;
  for (const { name, lacks, body, status, answer } of [
    { name: "names it", lacks: ["a.b"], body: summary, status: 200, answer: { type: "lacked", capabilities: ["a.b"] } },
    { name: "says nothing where nothing is lacking", lacks: [], body: summary, status: 204, answer: undefined },
    {
      name: "says nothing to a follower of the version before, which would not understand",
      lacks: ["a.b"],
      body: ofOlderVersion,
      status: 204,
      answer: undefined,
    },
  ]) {
    it(name, async () => {
      lacked = new Set(lacks);
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/summary`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      assert.deepEqual([response.status, text === "" ? undefined : JSON.parse(text)], [status, answer]);
    });
  }
});
