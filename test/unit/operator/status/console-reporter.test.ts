import assert from "node:assert/strict";
import { ConsoleReporter } from "#operator/status/console-reporter";
import type { StatusDocument } from "#operator/status/status-document";
import { resourcesOf } from "#test/support/compile-manifests";
import { waitFor } from "#test/support/wait-for";

const origin = { file: "manifests/all.yaml", line: 7 };

function document(kind: StatusDocument["kind"], name: string, ...conditions: string[]): StatusDocument {
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind,
    metadata: { namespace: "a", name },
    status: {
      conditions: conditions.map((text) => {
        const [type = "", status = "", reason = ""] = text.split(" ");
        return {
          type,
          status: status === "True" ? "True" : status === "False" ? "False" : "Unknown",
          reason,
          message: "M.",
          lastTransitionTime: "2026-11-21T12:00:00Z",
        };
      }),
    },
  };
}

const channels = resourcesOf(`apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: openai, namespace: a}
spec:
  provider: OpenAI
  credentials: [{name: main, secretKeyRef: {name: openai, key: apiKey}}]
`);

describe("ConsoleReporter", () => {
  let lines: string[];
  let announcer: ConsoleReporter;
  beforeEach(() => {
    lines = [];
    const awaited = [{ namespace: "a", name: "openai", variable: "OPENAI_API_KEY" }];
    announcer = new ConsoleReporter({
      log: { info: (text) => lines.push(text), warn: (text) => lines.push(`warn ${text}`) },
      resources: channels,
      awaited,
      rest: "see S",
      quietMs: 1,
    });
  });

  it("tells what is wrong with an object and where it stands", () => {
    announcer.report(undefined, document("Account", "one", "Accepted False Invalid"), origin);
    announcer.flush();
    assert.deepEqual(lines, ["warn Account a/one: Accepted=False Invalid: M. (manifests/all.yaml:7)"]);
  });

  it("warns of what is refused, before all that is less of a matter", () => {
    announcer.report(undefined, document("ApiKey", "one", "Active False Suspended"), undefined);
    announcer.report(undefined, document("Channel", "two", "Programmed False Rejected"), undefined);
    announcer.report(undefined, document("ModelRoute", "three", "Accepted True PartiallyValid"), undefined);
    announcer.report(undefined, document("ModelRoute", "four", "Accepted False Conflicted"), undefined);
    announcer.flush();
    assert.deepEqual(lines, [
      "warn Channel a/two: Programmed=False Rejected: M.",
      "warn ModelRoute a/four: Accepted=False Conflicted: M.",
      "ApiKey a/one: Active=False Suspended: M.",
      "ModelRoute a/three: Accepted=True PartiallyValid: M.",
    ]);
  });

  it("tells in one calm line that a channel waits for a variable, and nothing of routes that work without it", () => {
    announcer.report(undefined, document("Channel", "openai", "ResolvedRefs False SecretNotFound"), origin);
    const route = document("ModelRoute", "m", "ResolvedRefs False ChannelNotReady", "Available True Available");
    announcer.report(undefined, route, origin);
    announcer.flush();
    assert.deepEqual(lines, [
      "Channel a/openai: not in use until OPENAI_API_KEY is set in the environment (manifests/all.yaml:7)",
    ]);
  });

  it("tells of a channel whose other Secret is missing, and of a route without any other channel", () => {
    announcer.report(undefined, document("Channel", "other", "ResolvedRefs False SecretNotFound"), origin);
    const route = document("ModelRoute", "m", "ResolvedRefs False ChannelNotReady", "Available False NoTarget");
    announcer.report(undefined, route, origin);
    announcer.flush();
    assert.equal(lines.length, 3);
  });

  it("sums up what many objects have in common, by itself after a while", async () => {
    for (let index = 0; index < 100; index += 1) {
      const before = document("ApiKey", `k${index}`, "Programmed False NoProxies");
      announcer.report(before, document("ApiKey", `k${index}`, "Programmed True Programmed"), origin);
      announcer.report(undefined, document("Account", `x${index}`, "Accepted False Invalid"), origin);
    }
    await waitFor("the lines", () => lines.length > 0);
    assert.equal(lines.length, 22);
    assert.match(lines[20] ?? "", /^and 80 more; see S$/);
    assert.match(lines[21] ?? "", /^100 objects are live/);
  });

  it("tells each of a few objects that went live, and what was removed", () => {
    const before = document("ApiKey", "one", "Programmed False Pending");
    const after = document("ApiKey", "one", "Programmed True Programmed");
    announcer.report(before, after, origin);
    announcer.report(document("ApiKey", "two"), undefined, undefined);
    announcer.flush();
    assert.deepEqual(lines, [
      "ApiKey a/two: removed",
      "ApiKey a/one: Programmed=True Programmed: M. (manifests/all.yaml:7)",
    ]);
  });
});
