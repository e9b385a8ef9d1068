import assert from "node:assert/strict";
import fc from "fast-check";
import { BodyEditor } from "#proxy/json/body-editor";
import { scanJsonObject } from "#proxy/json/strict-json";

function editorOf(text: string): BodyEditor {
  return new BodyEditor(scanJsonObject(Buffer.from(text), { depthMax: 64, keysMax: 1_000 }));
}

describe("BodyEditor", () => {
  it("returns the very same buffer when nothing was changed", () => {
    const bytes = Buffer.from(' {"model":"a", "x" : 1} ');
    const editor = new BodyEditor(scanJsonObject(bytes, { depthMax: 64, keysMax: 10 }));
    editor.nested("fresh");
    editor.set("model", '"a"');
    editor.remove("absent");
    editor.set("added", "1");
    editor.remove("added");
    assert.equal(editor.build(), bytes);
  });

  const rows: { name: string; body: string; edit: (editor: BodyEditor) => void; want: string }[] = [
    {
      name: "replaces a value and leaves every other byte",
      body: ' { "model" : "a",\n "temperature":1.50, "n":1e0 } ',
      edit: (editor) => editor.set("model", '"longer-name"'),
      want: ' { "model" : "longer-name",\n "temperature":1.50, "n":1e0 } ',
    },
    {
      name: "replaces a member whose name is escaped",
      body: '{"mod\\u0065l":"a"}',
      edit: (editor) => editor.set("model", '"b"'),
      want: '{"mod\\u0065l":"b"}',
    },
    {
      name: "adds a member at the end",
      body: '{"a":1 }',
      edit: (editor) => editor.set("b", "2"),
      want: '{"a":1,"b":2 }',
    },
    { name: "adds to an empty object", body: "{ }", edit: (editor) => editor.set("b", "2"), want: '{"b":2 }' },
    { name: "removes the first member", body: '{"a":1, "b":2}', edit: (editor) => editor.remove("a"), want: '{"b":2}' },
    {
      name: "removes the last member",
      body: '{"a":1, "b":2 }',
      edit: (editor) => editor.remove("b"),
      want: '{"a":1 }',
    },
    { name: "removes the only member", body: '{ "a":1 }', edit: (editor) => editor.remove("a"), want: "{  }" },
    {
      name: "removes two in a row, from the start and inside",
      body: '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}',
      edit: (editor) => {
        for (const name of ["a", "b", "d", "e"]) editor.remove(name);
      },
      want: '{"c":3,"f":6}',
    },
    {
      name: "removes all and adds one",
      body: '{"a":1,"b":2}',
      edit: (editor) => {
        editor.remove("a");
        editor.remove("b");
        editor.set("c", "3");
      },
      want: '{"c":3}',
    },
    {
      name: "edits inside a nested object and leaves its other bytes",
      body: '{"stream_options": { "include_usage":false , "x":01e0 }}'.replace("01e0", "1e0"),
      edit: (editor) => editor.nested("stream_options").set("include_usage", "true"),
      want: '{"stream_options": { "include_usage":true , "x":1e0 }}',
    },
    {
      name: "edits two levels down",
      body: '{"a":{"b":{"c":1,"d":2}}}',
      edit: (editor) => editor.nested("a").nested("b").remove("c"),
      want: '{"a":{"b":{"d":2}}}',
    },
    {
      name: "makes a nested object where none was",
      body: '{"a":null}',
      edit: (editor) => {
        editor.nested("a").set("x", "1");
        editor.nested("b").nested("c").set("y", "2");
      },
      want: '{"a":{"x":1},"b":{"c":{"y":2}}}',
    },
    {
      name: "edits inside an object that was set",
      body: '{"a":1}',
      edit: (editor) => {
        editor.set("a", ' {"x":1,"y":2} ');
        editor.nested("a").remove("x");
      },
      want: '{"a":{"y":2}}',
    },
    {
      name: "lets a later set end a nested edit",
      body: '{"a":{"x":1}}',
      edit: (editor) => {
        editor.nested("a").set("x", "2");
        editor.set("a", "3");
      },
      want: '{"a":3}',
    },
    {
      name: "writes names that need escapes, and __proto__ like any other",
      body: '{"__proto__":1}',
      edit: (editor) => {
        editor.set("__proto__", "2");
        editor.set('q"', "3");
      },
      want: '{"__proto__":2,"q\\"":3}',
    },
    {
      name: "counts bytes, not characters",
      body: '{"é":"é","z":"日本"}',
      edit: (editor) => editor.set("é", '"日"'),
      want: '{"é":"日","z":"日本"}',
    },
  ];
  for (const { name, body, edit, want } of rows) {
    it(name, () => {
      const editor = editorOf(body);
      edit(editor);
      assert.equal(editor.build().toString(), want);
    });
  }

  it("tells the current text, nested edits included", () => {
    const editor = editorOf('{"a":{"x": 1},"b":"t"}');
    assert.equal(editor.text("a"), '{"x": 1}');
    editor.nested("a").set("y", "2");
    assert.equal(editor.text("a"), '{"x": 1,"y":2}');
    editor.remove("b");
    assert.equal(editor.has("b"), false);
    editor.set("b", "null");
    assert.equal(editor.text("b"), "null");
    assert.equal(editor.has("toString"), false);
  });

  it("refuses to look into what is no object, and names it", () => {
    assert.throws(() => editorOf('{"a":[1]}').nested("a"), { code: "invalid_type", param: "a" });
    assert.throws(() => editorOf('{"a":{"n":1,"n":2}}').nested("a"), { code: "invalid_json" });
  });
});

describe("BodyEditor against edits of the parsed object", () => {
  const names = fc.constantFrom("a", "b", "c", "d", "é", "__proto__");
  const leaf = fc.oneof(
    fc.constantFrom("1.50", "null", '"x\\u0041"', "[ 1 ]"),
    fc.jsonValue().map((v) => JSON.stringify(v)),
  );
  const value = fc.oneof(
    leaf,
    fc.dictionary(names, leaf).map((members) => {
      const inner = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}: ${text}`);
      return `{ ${inner.join(" , ")} }`;
    }),
  );
  const body = fc.uniqueArray(fc.tuple(names, value), { selector: ([name]) => name });
  const step = fc.record({
    kind: fc.constantFrom("set", "remove", "nested-set", "nested-remove"),
    name: names,
    inner: names,
    text: leaf,
  });

  it("gives what the same edits make of a Map, and keeps untouched members to the byte", () => {
    fc.assert(
      fc.property(body, fc.array(step, { maxLength: 6 }), (members, steps) => {
        const text = `{ ${members.map(([name, source]) => `${JSON.stringify(name)} :${source}`).join(",\n")} }`;
        const editor = editorOf(text);
        const model = new Map<string, string>(members);
        // A nested editor over nothing or null leaves it so until something stands in it.
        const before = new Map<string, string | undefined>();
        const touched = new Set<string>();
        for (const { kind, name, inner, text: given } of steps) {
          if (kind === "set") {
            editor.set(name, given);
            model.set(name, given);
            before.delete(name);
          } else if (kind === "remove") {
            editor.remove(name);
            model.delete(name);
            before.delete(name);
          } else {
            const parsed: unknown = JSON.parse(model.get(name) ?? "null");
            const isObject = typeof parsed === "object" && !Array.isArray(parsed);
            if (!isObject) continue;
            if (parsed === null) before.set(name, model.get(name));
            const entries = new Map<string, unknown>(Object.entries(parsed ?? {}));
            const existed = entries.delete(inner);
            if (kind === "nested-set") {
              editor.nested(name).set(inner, given);
              entries.set(inner, JSON.parse(given));
            } else {
              editor.nested(name).remove(inner);
              if (!existed) continue;
            }
            const encoded = [...entries].map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`);
            model.set(name, `{${encoded.join()}}`);
            if (entries.size === 0 && before.has(name)) {
              const restored = before.get(name);
              if (restored === undefined) model.delete(name);
              else model.set(name, restored);
            }
          }
          touched.add(name);
        }
        const built = scanJsonObject(editor.build(), { depthMax: 64, keysMax: 1_000 });
        assert.deepEqual(new Set(built.members.map((member) => member.name)), new Set(model.keys()));
        for (const member of built.members) {
          const source = built.bytes.toString("utf8", member.valueStart, member.valueEnd);
          const wanted = model.get(member.name) ?? "";
          if (touched.has(member.name)) assert.deepEqual(JSON.parse(source), JSON.parse(wanted));
          else assert.equal(source, wanted.trim());
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
