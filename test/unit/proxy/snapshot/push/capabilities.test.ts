import assert from "node:assert/strict";
import {
  capabilities,
  capabilitiesLacked,
  capabilitiesNeeded,
  capabilityNames,
} from "#proxy/snapshot/push/capabilities";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { readSnapshotSchema, type SchemaNode } from "#scripts/generators/snapshot-schema";
import { fullKey, wireChannel, wireKey } from "#test/support/wire-objects";

/**
 * What every proxy of protocol version 1 understands of a key, for ever: nothing is added here. What is new stands in
 * `capabilities.ts`, or below where it restricts nobody.
 */
const base: Readonly<Record<string, readonly string[]>> = {
  key: [
    ...["kind", "namespace", "name", "state", "expiresAt", "account", "labels", "credentials", "limits", "metadata"],
    ...["modelsAllow", "modelsDeny", "cidrsAllow", "cidrsDeny", "protocols", "capabilities"],
  ],
  "key.state": ["=Active", "=Suspended"],
  "key.credentials": ["name", "sha256", "notBefore", "notAfter"],
  "key.protocols": ["=OpenAI", "=Anthropic", "=Gemini"],
  "key.capabilities": [
    ...["=Chat", "=Completion", "=CountTokens", "=Embeddings", "=Rerank", "=Speech", "=Transcription", "=Translation"],
    ...["=ImageGeneration", "=ImageEdit", "=Moderation", "=Realtime", "=Models"],
  ],
  "key.limits": ["name", "unit", "limit", "period", "timeZone", "algorithm", "burst", "mode", "models"],
  "key.limits.unit": ["=Requests", "=Tokens", "=InputTokens", "=OutputTokens", "=Cost"],
  "key.limits.period": ["=Second", "=Minute", "=Hour", "=Day", "=Week", "=Month", "=Lifetime"],
  "key.limits.algorithm": ["=FixedWindow", "=TokenBucket"],
  "key.limits.mode": ["=Enforce", "=Shadow"],
};

/** New since version 1, and no restriction: an older proxy may ignore it. */
const informational: readonly string[] = [];

describe("capabilities", () => {
  it("name every field and value of keys in the schema that not every proxy knows", () => {
    const known = Object.entries(base).flatMap(([path, parts]) => parts.map((part) => join(path, part)));
    const inSchema = pathsOf(definitions.key, "key");
    assert.deepEqual(inSchema.sort(), [...known, ...capabilityNames, ...informational].sort());
  });

  const rows: readonly { name: string; object: WireObject; needs: string[] }[] = [
    { name: "a key of today's fields needs nothing", object: fullKey(1), needs: [] },
    { name: "a key with spec.concurrency", object: wireKey("one", { maxInFlight: 4 }), needs: ["key.maxInFlight"] },
    {
      name: "a key for what is passed on",
      object: wireKey("one", { capabilities: ["Chat", "Passthrough"] }),
      needs: ["key.capabilities=Passthrough"],
    },
    { name: "other kinds need nothing, whatever they hold", object: wireChannel("one", { maxInFlight: 4 }), needs: [] },
  ];
  for (const { name, object, needs } of rows) {
    it(`of objects: ${name}`, () => {
      assert.deepEqual(
        capabilitiesNeeded(object).map((one) => one.name),
        needs,
      );
    });
  }

  it("leave a key as it is without what they name", () => {
    const key = wireKey("one");
    for (const { without } of capabilities) assert.equal(without(key), key);
    assert.deepEqual(capabilities[0]?.without({ ...key, maxInFlight: 4 }), key);
    const both = wireKey("one", { capabilities: ["Chat", "Passthrough"] });
    assert.deepEqual(capabilities[1]?.without(both), wireKey("one", { capabilities: ["Chat"] }));
  });

  for (const { name, named, lacked } of [
    { name: "a proxy of this version lacks nothing", named: capabilityNames, lacked: [] },
    { name: "a proxy that names nothing lacks all", named: [], lacked: capabilityNames },
    { name: "what only a newer proxy knows is no matter", named: [...capabilityNames, "key.fromTomorrow"], lacked: [] },
  ]) {
    it(name, () => assert.deepEqual(capabilitiesLacked(named), lacked));
  }
});

const { definitions } = readSnapshotSchema();

/** Every member and every value of a closed set, however deep. */
function pathsOf(schema: SchemaNode | undefined, path: string): string[] {
  if (schema?.$ref !== undefined) return pathsOf(definitions[schema.$ref.replace("#/definitions/", "")], path);
  if (schema?.items !== undefined) return pathsOf(schema.items, path);
  const members = Object.entries(schema?.properties ?? {});
  return [
    ...(schema?.enum ?? []).map((value) => join(path, `=${value}`)),
    ...members.flatMap(([name, member]) => [join(path, name), ...pathsOf(member, join(path, name))]),
  ];
}

function join(path: string, part: string): string {
  return part.startsWith("=") ? `${path}${part}` : `${path}.${part}`;
}
