import assert from "node:assert/strict";
import fc from "fast-check";
import { isJsonObject } from "#operator/schema/check-structure";
import { validateResource } from "#operator/schema/validate-resource";
import { readExamples } from "#test/support/crd-examples";
import { mutateManifest, seededRandom } from "#test/support/mutate-manifest";

describe("validateResource() on random input", () => {
  const examples = readExamples("valid");

  it("applies defaults once and for all: a second time changes nothing", () => {
    const property = fc.property(fc.integer(), fc.nat(), (seed, index) => {
      const mutated = mutateManifest(examples[index % examples.length]?.document.object, seededRandom(seed));
      const { object } = validateResource(mutated);
      if (object !== undefined) assert.deepEqual(validateResource(object), { object, problems: [] });
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it("never throws and gives an object or a reason", () => {
    const property = fc.property(
      fc.jsonValue(),
      fc.constantFrom("ApiKey", "Channel", "ModelRoute", "Account"),
      (spec, kind) => {
        const { object, problems } = validateResource({
          apiVersion: "tollgate.dev/v1alpha1",
          kind,
          metadata: { name: "x" },
          spec,
        });
        assert.equal(object === undefined, problems.length > 0);
      },
    );
    fc.assert(property, { numRuns: 1_000 });
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        assert.ok(validateResource(document).problems.length > 0);
      }),
    );
  });

  it("names every problem by a path that leads into the document", () => {
    const property = fc.property(fc.integer(), fc.nat(), (seed, index) => {
      const mutated = mutateManifest(examples[index % examples.length]?.document.object, seededRandom(seed));
      for (const { path } of validateResource(mutated).problems) {
        let value: unknown = mutated;
        for (const step of path.slice(0, -1)) {
          if (Array.isArray(value)) value = value[Number(step)];
          else if (isJsonObject(value)) value = value[step];
        }
        assert.ok(typeof value === "object", path.join("."));
      }
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});
