/**
 * No member that a vendor's published document gives a request disappears silently: with it the upstream gets another
 * call, or the client another answer, or it is told what was dropped or why it is refused.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { describe, it } from "mocha";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { skipLoudly } from "#test/support/cluster/programs";
import { type PublishedMember, publishedMembers } from "#test/support/translation/published-members";
import { answerOf, formats, type Sent, sendTo } from "#test/support/translation/pure-translation";
import { type KnownMemberLoss, knownMemberLosses } from "./known-member-losses.ts";

/** Answers that show what the client may have asked for: thinking, and text in which a stop word stands. */
const answers: Readonly<Record<ChatWireFormat, object>> = {
  ChatCompletions: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: { role: "assistant", reasoning_content: "thought", content: "one sample two" },
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  Responses: {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "m",
    output: [
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "thought" }], encrypted_content: "e" },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "one sample two", annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  Messages: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [
      { type: "thinking", thinking: "thought", signature: "s" },
      { type: "text", text: "one sample two" },
    ],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  GenerateContent: {
    candidates: [
      {
        content: { role: "model", parts: [{ text: "thought", thought: true }, { text: "one sample two" }] },
        finishReason: "STOP",
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: "m",
    responseId: "r",
  },
};

interface Fate {
  readonly sent: Sent;
  readonly answer: unknown;
}

function fateOf(call: unknown, from: ChatWireFormat, to: ChatWireFormat): Fate {
  const body = Object(call);
  const sent = sendTo(to, from, body);
  return { sent, answer: "refused" in sent ? undefined : answerOf(to, from, body, answers[to]) };
}

/** @returns whether nobody can tell that it was said */
function isLostSilently(one: PublishedMember, from: ChatWireFormat, to: ChatWireFormat): boolean {
  const withIt = fateOf(one.withIt, from, to);
  if (!isDeepStrictEqual(withIt, fateOf(one.without, from, to))) return false;
  if ("refused" in withIt.sent) return false;
  return !isDeclared(one.path, withIt.sent.dropped ?? []);
}

/** Whether what holds the member is among the dropped, or a mark of its name on what holds both. */
function isDeclared(path: string, dropped: readonly string[]): boolean {
  const where = plain(path);
  const steps = where.split(".");
  return dropped.map(plain).some((field) => {
    const holder = field.slice(0, Math.max(0, field.lastIndexOf(".")));
    const name = field.slice(field.lastIndexOf(".") + 1);
    if (where === field || where.startsWith(`${field}.`)) return true;
    return steps.includes(name) && (holder === "" || where.startsWith(`${holder}.`));
  });
}

function plain(path: string): string {
  return path.replace(/<[^>]*>/g, "").replace(/\[\d*\]|\.\d+(?=\.|$)/g, "");
}

function applies(loss: KnownMemberLoss, from: ChatWireFormat, to: ChatWireFormat, path: string): boolean {
  if (loss.from !== from || (loss.to !== undefined && !loss.to.includes(to))) return false;
  return loss.members.some((member) => matches(member, path));
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.[\]\\^$()|?+{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(path);
}

describe("every member of the published requests", function () {
  this.timeout(60_000);
  const used = new Set<KnownMemberLoss>();
  for (const from of formats) {
    const members = publishedMembers(from);
    for (const to of formats.filter((format) => format !== from)) {
      it(`is carried, declared or refused, from ${from} to ${to}`, function () {
        if (members === undefined) return skipLoudly(this, "the published documents are not here");
        assert.ok(members.length > 90, `${members.length} members`);
        const lost = members.filter((one) => {
          if (!isLostSilently(one, from, to)) return false;
          const reasons = knownMemberLosses.filter((loss) => applies(loss, from, to, one.path));
          for (const reason of reasons) used.add(reason);
          return reasons.length === 0;
        });
        assert.deepEqual(
          lost.map(({ path, value }) => `${path} = ${JSON.stringify(value)}`),
          [],
        );
      });
    }
  }

  it("has no exception that is none any more", function () {
    if (publishedMembers("ChatCompletions") === undefined) return skipLoudly(this, "the documents are not here");
    assert.deepEqual(
      knownMemberLosses.filter((loss) => !used.has(loss)),
      [],
    );
  });
});
