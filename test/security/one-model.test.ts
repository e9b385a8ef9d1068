import assert from "node:assert/strict";
import fc from "fast-check";
import { GatewayError } from "#proxy/errors";
import { BodyEditor } from "#proxy/json/body-editor";
import { readString, scanJsonObject } from "#proxy/json/strict-json";

/** Every way a parser may find the member: exactly, without case, the first of two, the last of two. */
function modelsFound(text: string): unknown[] {
  const found: unknown[] = [];
  const member = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|[0-9]+)\s*[,}]/g;
  for (const [, key, value] of text.matchAll(member)) {
    const name = String(JSON.parse(`"${key}"`));
    if (name.toUpperCase().toLowerCase() === "model") found.push(JSON.parse(value ?? "null"));
  }
  return found;
}

describe("authoriser and upstream", () => {
  it("see the same model in every body that is let through, whatever parser reads it", () => {
    const spelledKey = fc.constantFrom(
      "model",
      "mod\\u0065l",
      "\\u006dodel",
      "Model",
      "MODEL",
      "mOdel",
      "model ",
      "models",
      "x",
    );
    const spelledValue = fc.constantFrom('"good"', '"bad"', '"go\\u006fd"', '""', "1");
    const space = fc.constantFrom("", " ", "\n\t");
    const member = fc.tuple(space, spelledKey, space, spelledValue, space);
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(member, { maxLength: 3 }), (members) => {
        const text = `{${members.map(([a, key, b, value, c]) => `${a}"${key}"${b}:${value}${c}`).join(",")}}`;
        let scanned: ReturnType<typeof scanJsonObject>;
        try {
          scanned = scanJsonObject(Buffer.from(text), { depthMax: 64, keysMax: 100 });
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.code === "invalid_json");
          return;
        }
        accepted += 1;
        const found = modelsFound(text);
        assert.ok(found.length <= 1, text);
        const model = readString(scanned, scanned.member("model"));
        assert.equal(model, typeof found[0] === "string" ? found[0] : undefined);
        const editor = new BodyEditor(scanned);
        editor.set("model", '"upstream-name"');
        assert.deepEqual(modelsFound(editor.build().toString()), ["upstream-name"]);
      }),
      { numRuns: 100_000 },
    );
    assert.ok(accepted > 10_000, `only ${accepted} bodies were let through`);
  }).timeout(20_000);
});
