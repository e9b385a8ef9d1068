/** The files of presets against their schema, and what one file takes from the one that it extends. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { readCrdSchemas } from "#scripts/generators/crd-schemas";
import { type PresetFile, presetChecker, readPresetFiles } from "#scripts/generators/presets/read-presets";
import { resolvePreset } from "#scripts/generators/presets/resolve-preset";

describe("files of presets", () => {
  const files = readPresetFiles();
  const channel = readCrdSchemas().find(({ kind }) => kind === "Channel")?.root.properties?.["spec"];

  it("are the names that the CRD lists", () => {
    assert.deepEqual(
      files.map(({ name }) => name),
      channel?.properties?.["preset"]?.["enum"],
    );
  });

  it("without an address are those for which the CRD asks for baseURL", () => {
    const rules = channel?.["x-kubernetes-validations"];
    const rule = Array.isArray(rules) ? rules.find(({ fieldPath }) => fieldPath === ".baseURL")?.rule : undefined;
    const [, list = ""] = /has\(self\.preset\) \? !\(self\.preset in \[([^\]]*)\]/.exec(String(rule)) ?? [];
    assert.deepEqual(
      list.split(/,\s*/).map((name) => name.replaceAll("'", "")),
      files.filter(({ baseURL }) => baseURL === undefined).map(({ name }) => name),
    );
  });

  const check = presetChecker();
  const small = { title: "Acme", documentation: "https://acme.example/docs", formats: { ChatCompletions: "/chat" } };
  const rows: readonly { name: string; content: unknown; want: RegExp | undefined }[] = [
    { name: "may be small", content: small, want: undefined },
    {
      name: "have no member that nobody reads",
      content: { ...small, base: "https://acme.example" },
      want: /additional/,
    },
    { name: "name formats of the CRD", content: { ...small, formats: { Chat: "/chat" } }, want: /property name/ },
    { name: "have some format", content: { ...small, formats: {} }, want: /fewer than 1/ },
    {
      name: "have no slash behind the address",
      content: { ...small, baseURL: "https://acme.example/" },
      want: /baseURL/,
    },
    { name: "have an absolute address", content: { ...small, baseURL: "acme.example" }, want: /baseURL/ },
    {
      name: "name dialects of the CRD",
      content: { ...small, formats: { Rerank: { path: "/r", dialect: "Acme" } } },
      want: /Rerank/,
    },
    { name: "name providers of the CRD", content: { ...small, provider: "Acme" }, want: /provider/ },
    { name: "quote their documentation", content: { ...small, documentation: "see there" }, want: /documentation/ },
  ];
  for (const { name, content, want } of rows) {
    it(name, () => {
      const problem = check(content);
      if (want === undefined) assert.equal(problem, undefined);
      else assert.match(problem ?? "", want);
    });
  }
});

describe("resolvePreset()", () => {
  const base: PresetFile = {
    name: "base",
    title: "Base",
    documentation: "https://base.example",
    provider: "OpenAICompatible",
    auth: { header: "authorization", scheme: "Bearer" },
    credential: "Required",
    baseURL: "https://base.example",
    formats: { ChatCompletions: "/chat", Embeddings: "/embed" },
    otherFormats: { Rerank: "/rerank" },
  };
  const own: PresetFile = {
    name: "own",
    title: "Own",
    documentation: "https://own.example",
    extends: "base",
    formats: { Embeddings: { path: "/own", dialect: "Voyage" } },
  };

  it("takes from the other file what is not said, but for its address", () => {
    assert.deepEqual(resolvePreset(own, [base, own]), {
      provider: "OpenAICompatible",
      auth: { location: "Header", name: "authorization", scheme: "Bearer" },
      needsCredential: true,
      formats: [{ type: "Embeddings", path: "/own", dialect: "Voyage" }],
      otherFormats: [
        { type: "ChatCompletions", path: "/chat" },
        { type: "Rerank", path: "/rerank" },
      ],
    });
  });

  it("refuses a file that extends itself, in a circle, or one that is not there", () => {
    const circle = { ...base, extends: "own" };
    assert.throws(() => resolvePreset(own, [own]), /own\.yaml cannot extend base/);
    assert.throws(() => resolvePreset(own, [circle, own]), /base\.yaml cannot extend own/);
    const alone = { ...own, extends: "own" };
    assert.throws(() => resolvePreset(alone, [alone]), /own\.yaml cannot extend own/);
  });

  it("refuses a file for which nobody says the provider", () => {
    const { extends: _base, ...alone } = own;
    assert.throws(() => resolvePreset(alone, [alone]), /own\.yaml: provider is missing/);
  });
});
