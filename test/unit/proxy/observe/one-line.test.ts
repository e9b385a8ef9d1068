import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { oneLine } from "#proxy/observe/one-line";

describe("oneLine()", () => {
  for (const { name, text, want } of [
    { name: "keeps text of every language", text: 'gpt "é" 模型 \\ 👍', want: 'gpt "é" 模型 \\ 👍' },
    { name: "shows control characters", text: "a\nb\u001b[2J\u0000", want: "a\\nb\\u001b[2J\\u0000" },
    { name: "shows those of the second set", text: "\u009b2J\u0085\u007f", want: "?2J??" },
    { name: "shows separators of lines and marks of direction", text: "a\u2028b\u202ec\u2066d", want: "a?b?c?d" },
  ]) {
    it(name, () => assert.equal(oneLine(text), want));
  }
});
