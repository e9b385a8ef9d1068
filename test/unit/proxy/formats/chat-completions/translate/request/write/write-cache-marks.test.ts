import assert from "node:assert/strict";
import type { Part, Turn } from "#proxy/neutral/conversation";
import { conversationOf, type TargetChanges, writtenRequest } from "#test/support/translation/chat-exchange";
import { assistant, call, compatible, openRouter, result, text, user } from "#test/support/translation/small-turns";

describe("writeMessages(): marks for the cache", () => {
  const where = "messages.0.content.0";
  const marked = (value: string, ttl?: string): Part => ({
    kind: "text",
    text: value,
    where,
    cache: ttl ? { ttl } : {},
  });
  const breakpoint = (value: string): Part => ({ ...marked(value), cache: { ttl: "12h", isBreakpoint: true } });
  const anthropic = (ttl?: string) => ({ cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } });

  function lastOf(turns: readonly Turn[], target: TargetChanges): unknown[] {
    const { body, dropped } = writtenRequest({ ...conversationOf(), turns }, target);
    return [Object(body["messages"]).at(-1).content, dropped];
  }

  for (const row of [
    {
      name: "keeps the text of a reply in parts",
      turns: [assistant(text("a"), marked("b"), text("c")), assistant(text("d"))],
      want: [
        { type: "text", text: "ab", ...anthropic() },
        { type: "text", text: "c\n\nd" },
      ],
    },
    {
      name: "declares that of a call",
      turns: [assistant(text("a"), call("x", "{}", { cache: {}, where })), { role: "tool", parts: [result("x", "1")] }],
      want: "1",
      dropped: [`${where}.cache_control`],
    },
    {
      name: "moves that of an empty text to the part before",
      turns: [user(text("a"), marked("", "1h"))],
      want: [{ type: "text", text: "a", ...anthropic("1h") }],
    },
    {
      name: "says OpenAI's times in Anthropic's words",
      turns: [user(breakpoint("a"))],
      want: [{ type: "text", text: "a", ...anthropic("1h") }],
    },
    {
      name: "gives OpenAI its own back, also on results",
      target: {},
      turns: [
        user(text("q")),
        assistant(call("x")),
        { role: "tool", parts: [result("x", "1", { cache: { isBreakpoint: true } })] },
      ],
      want: [{ type: "text", text: "1", prompt_cache_breakpoint: { mode: "explicit" } }],
    },
    {
      name: "gives OpenAI its own back in a reply",
      target: {},
      turns: [user(text("q")), assistant(breakpoint("a"))],
      want: [{ type: "text", text: "a", prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } }],
    },
    { name: "gives OpenAI no other", target: {}, turns: [user(marked("a"))], want: "a", dropped: ["cache_control"] },
    {
      name: "gives OpenAI's to no server that knows neither",
      target: compatible,
      turns: [user(breakpoint("a"))],
      want: "a",
      dropped: ["prompt_cache_breakpoint"],
    },
  ] satisfies { name: string; target?: TargetChanges; turns: Turn[]; want: unknown; dropped?: string[] }[]) {
    it(row.name, () => {
      const {
        target = openRouter,
        turns,
        want,
        dropped = [],
      }: { target?: TargetChanges; dropped?: string[] } & typeof row = row;
      assert.deepEqual(lastOf(turns, target), [want, dropped]);
    });
  }
});
