import assert from "node:assert/strict";
import { identifyDocument } from "#operator/schema/validate-resource";

describe("identifyDocument()", () => {
  for (const { name, document, want } of [
    {
      name: "names a broken object",
      document: { kind: "ApiKey", metadata: { name: "a", namespace: "b" }, spec: 5 },
      want: { kind: "ApiKey", namespace: "b", name: "a" },
    },
    {
      name: "fills in the namespace",
      document: { kind: "ApiKey", metadata: { name: "a" } },
      want: { kind: "ApiKey", namespace: "default", name: "a" },
    },
    {
      name: "leaves a Namespace without one",
      document: { kind: "Namespace", metadata: { name: "a" } },
      want: { kind: "Namespace", namespace: "", name: "a" },
    },
    { name: "gives up without a name", document: { kind: "ApiKey", metadata: {} }, want: undefined },
    { name: "gives up on what is no object", document: "x", want: undefined },
  ]) {
    it(name, () => assert.deepEqual(identifyDocument(document), want));
  }
});
