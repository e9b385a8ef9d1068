import assert from "node:assert/strict";
import { validateResource } from "#operator/schema/validate-resource";
import { compileText } from "#test/support/compile-manifests";
import { documentsWithName, inheritedNames } from "#test/support/member-names";

describe("validateResource() on a member named as what every object has", () => {
  for (const name of inheritedNames) {
    for (const { place, isTaken, document } of documentsWithName(name)) {
      it(`${isTaken ? "takes" : "refuses"} ${name} in ${place}`, () => {
        const { object, problems } = validateResource(document);
        assert.equal(object !== undefined, isTaken, JSON.stringify(problems));
        for (const { message } of problems) assert.doesNotMatch(message, /could not be evaluated/);
        if (!object || !("spec" in object)) return;
        // With rules that compare with the version before, and as the compiler takes it from a text.
        assert.deepEqual(validateResource(document, { previous: object }).problems, []);
        const { resources, results } = compileText(JSON.stringify(document));
        assert.deepEqual(resources.problems, []);
        assert.deepEqual(
          [...results.values()].map(({ accepted }) => accepted.status),
          ["True"],
        );
      });
    }
  }
});
