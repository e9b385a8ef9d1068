import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { everyObject } from "#operator/resources/mutable-resource-set";
import { ManifestStore } from "#operator/source/manifest-store";
import { putText } from "#test/support/compile-manifests";

describe("a generate credential whose Secret is not there", () => {
  const compiled = (makesKeys: boolean) => {
    const store = new ManifestStore();
    const manifest = {
      apiVersion: "tollgate.dev/v1alpha1",
      kind: "ApiKey",
      metadata: { name: "bot", namespace: "a" },
      spec: { credentials: [{ name: "one", generate: { secretName: "bot-key" } }] },
    };
    putText(store, "keys.yaml", JSON.stringify(manifest));
    const compilation = new Compilation(store.resources, defaultCompileSettings, "Exact", makesKeys);
    compilation.update(everyObject(store.resources));
    return compilation;
  };

  it("waits where somebody makes it", () => {
    const compilation = compiled(true);
    assert.equal(compilation.results.get("key/a/bot")?.resolvedRefs?.reason, "Pending");
    assert.equal(compilation.wantedSecrets().length, 1);
  });

  it("says what to do where nobody does", () => {
    const compilation = compiled(false);
    const { status, reason, message } = compilation.results.get("key/a/bot")?.resolvedRefs ?? assert.fail();
    assert.deepEqual([status, reason], ["False", "SecretNotFound"]);
    assert.match(message, /create it, or turn key generation on/);
    assert.equal(compilation.wantedSecrets().length, 0);
  });
});
