/**
 * What the CRDs accept and the compiler calls good the proxies take: no object may look served and be refused by every one
 * of them. Examples of every rule, and thousands of changes to them that the CRDs still accept.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { isJsonObject } from "#operator/schema/check-structure";
import { validateResource } from "#operator/schema/validate-resource";
import { validateObject } from "#proxy/snapshot/validate";
import { compileText } from "#test/support/compile-manifests";
import { readExamples } from "#test/support/crd-examples";
import { mutateManifest, seededRandom } from "#test/support/mutate-manifest";

const examples = readExamples("valid").map(({ document }) => document.object);
const kinds = ["ApiKey", "Channel", "ModelRoute", "Account"].map((kind) =>
  examples.filter((example) => isJsonObject(example) && example["kind"] === kind),
);

/** The Secrets and ConfigMaps that a manifest wants, so that nothing fails for want of one. */
function referenced(value: unknown, namespace: unknown): object[] {
  if (Array.isArray(value)) return value.flatMap((item) => referenced(item, namespace));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([member, inner]) => {
    const found = referenced(inner, namespace);
    if (!isJsonObject(inner) || typeof inner["name"] !== "string") return found;
    const data = { [String(inner["key"] ?? "apiKey")]: `sk-${"a".repeat(40)}` };
    const metadata = { name: inner["name"], namespace };
    if (member.endsWith("ecretKeyRef") || member.endsWith("ecretRef"))
      return [...found, { apiVersion: "v1", kind: "Secret", metadata, stringData: data }];
    return found;
  });
}

/** Some members and items of the one and of the other. */
function cross(one: unknown, other: unknown, random: () => number): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other].filter(() => random() < 0.6);
  if (!isJsonObject(one) || !isJsonObject(other)) return random() < 0.5 ? one : other;
  const members = new Set([...Object.keys(one), ...Object.keys(other)]);
  const mixed: Record<string, unknown> = {};
  for (const member of members) {
    if (member in one && member in other) mixed[member] = cross(one[member], other[member], random);
    else if (random() < 0.7) mixed[member] = one[member] ?? other[member];
  }
  return mixed;
}

function assertTaken(object: object): void {
  const namespace = (object as { metadata: { namespace?: string } }).metadata.namespace ?? "default";
  const text = [object, ...referenced(object, namespace)].map((each) => JSON.stringify(each)).join("\n---\n");
  for (const [id, compiled] of compileText(text).objects)
    assert.deepEqual(validateObject(compiled, id), { object: compiled }, JSON.stringify(object));
}

describe("objects that the CRDs accept", () => {
  it("are taken by the proxies' validator, every example", () => {
    for (const object of examples) assertTaken(object as object);
  });

  it("are taken by the proxies' validator, however they are mixed and changed", () => {
    let accepted = 0;
    const property = fc.property(fc.integer(), fc.constantFrom(...kinds), fc.boolean(), (seed, kind, isMutated) => {
      const random = seededRandom(seed);
      const pick = () => kind[Math.floor(random() * kind.length)];
      const mixed = cross(cross(pick(), pick(), random), pick(), random);
      const { object } = validateResource(isMutated ? mutateManifest(mixed, random) : mixed);
      if (object === undefined) return;
      accepted += 1;
      assertTaken(object);
    });
    fc.assert(property, { numRuns: 4_000 });
    assert.ok(accepted > 400, `${accepted} of 4000 were accepted: too few to mean anything`);
  });
});
