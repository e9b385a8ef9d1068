/**
 * The real program in front of the demo upstream, with a key for each way to be refused: what the official SDKs are
 * pointed at.
 */
import assert from "node:assert/strict";
import type { Server } from "node:http";
import { after, before } from "mocha";
import { createDemoUpstream } from "#examples/demo-upstream/server";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import {
  accountManifest,
  channelManifest,
  channelSecret,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "./manifests.ts";

/** Models that every key but `narrow` may call, and what stands behind them. */
export const demoModels = ["demo", "maker/demo:1"] as const;

/** Ways in which the demo upstream fails, each a model `fault-NAME`. */
const faults = [
  "400",
  "401",
  "402",
  "403",
  "404",
  "408",
  "409",
  "413",
  "429",
  "500",
  "502",
  "503",
  "504",
  "529",
  "cut",
  "error-event",
];

const oneADay = [{ name: "day", unit: "Requests", limit: "1", period: "Day" }];

const keys: Readonly<Record<string, object>> = {
  main: {},
  suspended: { state: "Suspended" },
  expired: { expiresAt: "2020-01-01T00:00:00Z" },
  elsewhere: { clientCIDRs: { allow: ["192.0.2.0/24"] } },
  narrow: { models: { allow: ["demo"] } },
  chatless: { capabilities: ["Models"] },
  unfunded: { accountRef: { name: "empty" } },
  // One each for whoever spends it: the tests of a file run in any order.
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((number) => [`spent-${number}`, { limits: oneADay }])),
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((number) => [
      `slow-${number}`,
      { limits: [{ name: "rate", unit: "Requests", limit: "1", period: "Second" }] },
    ]),
  ),
};

function manifests(origin: string): string {
  const targetOf = (upstreamModel: string) => ({
    targets: [{ name: "main", channelRef: { name: "demo" }, upstreamModel }],
  });
  const price = { price: { inputPerMillion: "1", outputPerMillion: "2" } };
  return manifestOf(
    channelSecretManifest(),
    accountManifest("empty", { credit: "0" }),
    channelManifest("demo", origin, { upstreamObjects: "Refuse" }),
    ...Object.entries(keys).map(([name, spec]) => keyManifest(name, spec)),
    ...demoModels.map((model, index) =>
      routeManifest(`model-${index}`, {
        model,
        info: { ownedBy: "the makers", displayName: `Demo ${index}`, contextWindow: 128_000, maxOutputTokens: 8_192 },
        ...targetOf("upstream-model"),
      }),
    ),
    ...faults.map((fault) =>
      routeManifest(`fault-${fault}`, { visibility: "Unlisted", ...price, ...targetOf(`demo-fault-${fault}`) }),
    ),
  );
}

/** Starts the gateway before the tests of the enclosing `describe` and ends it after them. */
export function useSdkGateway(): () => Gateway {
  let upstream: Server | undefined;
  let gateway: Gateway | undefined;
  before(async function () {
    this.timeout(30_000);
    upstream = createDemoUpstream({ paceMs: 0, credential: channelSecret });
    const listening = upstream;
    await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
    const address = listening.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    gateway = await startGateway({
      manifests: { "all.yaml": manifests(`http://127.0.0.1:${port}`) },
      flags: ["--limits-json-body=256KiB"],
    });
    await gateway.waitUntilServed("default/main", "demo");
  });
  after(async function () {
    this.timeout(20_000);
    await gateway?.close();
    upstream?.close();
    upstream?.closeAllConnections();
  });
  return () => gateway ?? assert.fail("the gateway has not been started");
}

/** Counts the HTTP requests of an SDK: given to it as its `fetch`. */
export function countingFetch(): { readonly fetch: typeof fetch; readonly count: () => number } {
  let count = 0;
  return {
    fetch: (input, init) => {
      count += 1;
      return fetch(input, init);
    },
    count: () => count,
  };
}

/** A schema, and what the demo upstream makes of it. */
export const citySchema = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer" } },
  required: ["city", "degrees"],
  additionalProperties: false,
} as const;
export const city = { city: "demo", degrees: 1 };

/** A PNG of one pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
