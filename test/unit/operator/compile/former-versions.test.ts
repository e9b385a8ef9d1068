/** What a person is told of an object whose present version is refused, and which version holds meanwhile. */
import assert from "node:assert/strict";
import { compile, defaultCompileSettings } from "#operator/compile/compile";
import { ManifestStore } from "#operator/source/manifest-store";
import { putText } from "#test/support/compile-manifests";

const own = (kind: string, spec: string) =>
  `apiVersion: tollgate.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: one, namespace: a}\nspec: ${spec}\n`;

describe("an object whose new version is refused by its schema", () => {
  for (const { kind, good, bad } of [
    { kind: "Account", good: '{credit: "1"}', bad: "{credit: much}" },
    {
      kind: "Channel",
      good: "{provider: OpenAICompatible, baseURL: https://models.example/v1}",
      bad: "{provider: Nobody}",
    },
    { kind: "ModelRoute", good: "{targets: [{name: t, channelRef: {name: c}}]}", bad: "{targets: []}" },
  ]) {
    const acceptedOf = (...texts: string[]) => {
      const store = new ManifestStore();
      for (const text of texts) putText(store, "one.yaml", text);
      const [result] = compile(store.resources, defaultCompileSettings).results.values();
      return result?.accepted ?? assert.fail();
    };

    it(`is served as it was before, and says so: ${kind}`, () => {
      const { reason, message } = acceptedOf(own(kind, good), own(kind, bad));
      assert.equal(reason, "Invalid");
      assert.match(message, /^spec\..*\. The previous version is served\.$/);
    });

    it(`says nothing of a version before it where there is none: ${kind}`, () => {
      const { reason, message } = acceptedOf(own(kind, bad));
      assert.equal(reason, "Invalid");
      assert.doesNotMatch(message, /before/);
    });
  }
});
