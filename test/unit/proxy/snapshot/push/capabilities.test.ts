import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  capabilities,
  capabilitiesLacked,
  capabilitiesNeeded,
  capabilityNames,
} from "#proxy/snapshot/push/capabilities";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { readSnapshotSchema, type SchemaNode } from "#scripts/generators/snapshot-schema";
import { fullKey, wireChannel, wireKey, wireRoute } from "#test/support/wire-objects";

/** Every field and value that each proxy of protocol version 1 understands, for ever: nothing is added to the file. */
const versionOne: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL("version-1-fields.json", import.meta.url), "utf8"),
);

/** Values that came with the field that has them: a value that comes later is a capability of its own. */
const cameAlong: readonly string[] = [
  ...["=Groq", "=Mistral"].map((value) => join("channel.quirks", value)),
  ...["=OpenAI", "=Cohere", "=Voyage", "=Jina", "=TEI"].map((value) => join("channel.formats.dialect", value)),
];

/** New since version 1, and no restriction: an older proxy may ignore it. */
const informational: readonly string[] = [];

const dialectChannel = wireChannel("one", { formats: [{ type: "Rerank", path: "/rerank", dialect: "Voyage" }] });

describe("capabilities", () => {
  it("name every field and value of objects in the schema that not every proxy knows", () => {
    for (const [kind, known] of Object.entries(versionOne)) {
      const later = [...capabilityNames, ...cameAlong, ...informational].filter((path) => path.startsWith(`${kind}.`));
      assert.deepEqual(pathsOf(definitions[kind], kind).sort(), [...known, ...later].sort(), kind);
    }
  });

  const rows: readonly { name: string; object: WireObject; needs: string[] }[] = [
    { name: "a key of today's fields needs nothing", object: fullKey(1), needs: [] },
    { name: "a key with spec.concurrency", object: wireKey("one", { maxInFlight: 4 }), needs: ["key.maxInFlight"] },
    {
      name: "a key for what is passed on",
      object: wireKey("one", { capabilities: ["Chat", "Passthrough"] }),
      needs: ["key.capabilities=Passthrough"],
    },
    { name: "a channel of fields from version 1", object: wireChannel("one", { maxInFlight: 4 }), needs: [] },
    { name: "a channel with a dialect", object: dialectChannel, needs: ["channel.formats.dialect"] },
    { name: "a channel with quirks", object: wireChannel("one", { quirks: "Mistral" }), needs: ["channel.quirks"] },
    {
      name: "a channel whose model is passed on",
      object: wireChannel("one", { models: [{ name: "a" }, { name: "b", capabilities: ["Passthrough"] }] }),
      needs: ["channel.models.capabilities=Passthrough"],
    },
    { name: "a route of chat", object: wireRoute("one", { capabilities: ["Chat"] }), needs: [] },
    {
      name: "a route of what is passed on",
      object: wireRoute("one", { capabilities: ["Chat", "Passthrough"] }),
      needs: ["route.capabilities=Passthrough"],
    },
  ];
  for (const { name, object, needs } of rows) {
    it(`of objects: ${name}`, () => {
      assert.deepEqual(
        capabilitiesNeeded(object).map((one) => one.name),
        needs,
      );
    });
  }

  for (const { name, object, needs } of rows) {
    it(`${name} needs nothing any more without what they name`, () => {
      const rest = capabilitiesNeeded(object).reduce((left: WireObject, { without }) => without(left), object);
      assert.deepEqual(capabilitiesNeeded(rest), []);
      assert.equal(rest === object, needs.length === 0, "the very same where nothing was used");
    });
  }

  it("leave all else of an object", () => {
    const formats = [{ type: "Rerank", path: "/rerank" }] as const;
    const rest = capabilities.reduce((left: WireObject, { without }) => without(left), dialectChannel);
    assert.deepEqual(rest, wireChannel("one", { formats: [...formats] }));
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
