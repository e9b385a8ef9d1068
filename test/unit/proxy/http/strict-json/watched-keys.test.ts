import assert from "node:assert/strict";
import { readText } from "#proxy/json/strict-json";
import { scan } from "#test/support/scan-json";

describe("watched keys", () => {
  const watch = ["file_id", "fileUri", "é"];

  it("are reported with their path and value, at any depth below the top", () => {
    const body = scan(
      '{"messages":[{"role":"user"},{"content":[{"file":{"file_id":"f-1"}},{"file_id":2}]}],"x":{"file\\u0055ri":[]}}',
      watch,
    );
    const seen = body.hits.map((hit) => [hit.path, hit.key, hit.kind, readText(body, hit)]);
    assert.deepEqual(seen, [
      [["messages", 1, "content", 0, "file", "file_id"], "file_id", "string", '"f-1"'],
      [["messages", 1, "content", 1, "file_id"], "file_id", "number", "2"],
      [["x", "fileUri"], "fileUri", "array", "[]"],
    ]);
  });

  it("tells user data by its path", () => {
    const body = scan('{"tools":[{"args":{"file_id":"mine"}}],"file_id":"top"}', watch);
    assert.deepEqual(
      body.hits.map((hit) => hit.path),
      [["tools", 0, "args", "file_id"]],
    );
  });

  it("are no members, text or longer keys that merely hold the name", () => {
    const body = scan('{"a":{"xfile_id":1,"file_idx":1,"file-id":1,"File_id":1,"b":"file_id"}}', watch);
    assert.deepEqual(body.hits, []);
  });

  it("may hold each other", () => {
    const body = scan('{"a":{"file_id":{"file_id":{"é":1}}}}', watch);
    assert.deepEqual(
      body.hits.map((hit) => hit.path.join(".")),
      ["a.file_id.file_id.é", "a.file_id.file_id", "a.file_id"],
    );
  });
});
