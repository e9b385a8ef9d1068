import assert from "node:assert/strict";
import type { JsonObject } from "#proxy/json/json-value";
import { begin, block, ending, json, last } from "#test/support/translation/messages-events";
import { readEvents } from "#test/support/translation/messages-exchange";

describe("messages: stream reader, tools of the provider", () => {
  function hostedOf(...events: JsonObject[]): unknown {
    return readEvents([begin, ...events, ending("end_turn"), last]).flatMap((event) =>
      event.type === "open" && event.block.kind === "hosted" ? [event.block] : [],
    );
  }
  const code = { type: "server_tool_use", id: "s", name: "bash_code_execution", input: {} };
  const printed = {
    type: "bash_code_execution_tool_result",
    tool_use_id: "s",
    content: { stdout: "3\n", stderr: "", return_code: 0 },
  };
  it("are told with what they printed", () => {
    assert.deepEqual(hostedOf(...block(0, code, json('{"command"'), json(':"ls"}')), ...block(1, printed)), [
      { kind: "hosted", tool: "code", type: "bash_code_execution", code: "ls", output: "3\n" },
    ]);
  });
  it("are told when no result follows, before what does", () => {
    const events = readEvents([
      begin,
      ...block(0, code),
      ...block(1, { type: "text", text: "a" }),
      ending("end_turn"),
      last,
    ]);
    const opened = events.flatMap((event) => (event.type === "open" ? [`${event.part} ${event.block.kind}`] : []));
    assert.deepEqual(opened, ["0 hosted", "1 text"]);
  });
  it("pairs those that run at once with their results, and takes only programs for code", () => {
    const use = (id: string, command: string) => ({
      type: "server_tool_use",
      id,
      name: "bash_code_execution",
      input: { command },
    });
    const result = (id: string, stdout: string) => ({
      type: "bash_code_execution_tool_result",
      tool_use_id: id,
      content: { type: "bash_code_execution_result", stdout, stderr: "" },
    });
    const tool = { kind: "hosted", tool: "code", type: "bash_code_execution" };
    const told = [use("a", "ls"), use("b", "pwd"), result("a", "A"), result("b", "B")];
    assert.deepEqual(hostedOf(...told.flatMap((it, index) => block(index, it))), [
      { ...tool, code: "ls", output: "A" },
      { ...tool, code: "pwd", output: "B" },
    ]);
    const edit = { ...use("c", "create"), name: "text_editor_code_execution" };
    assert.deepEqual(hostedOf(...block(0, edit)), [
      { kind: "hosted", tool: "code", type: "text_editor_code_execution" },
    ]);
  });

  it("pitfall 42: are told when the result is an error of unknown code", () => {
    const failed = { type: "web_search_tool_result", tool_use_id: "s", content: { error_code: "new_code" } };
    const search = { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } };
    assert.deepEqual(hostedOf(...block(0, search), ...block(1, failed)), [
      { kind: "hosted", tool: "web-search", type: "web_search", queries: ["q"], hasFailed: true },
    ]);
  });
  it("are other tools when they are remote", () => {
    const remote = { type: "mcp_tool_use", id: "s", name: "web_search", server_name: "x", input: {} };
    assert.deepEqual(hostedOf(...block(0, remote)), [{ kind: "hosted", tool: "other", type: "web_search" }]);
  });
});
