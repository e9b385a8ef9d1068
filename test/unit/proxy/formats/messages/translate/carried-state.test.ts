/** Provider state on its way through a messages client: back to the channel that gave it, and to nobody else. */
import assert from "node:assert/strict";
import type { Conversation, ProviderState } from "#proxy/neutral/conversation";
import type { ReplyBlock } from "#proxy/neutral/reply";
import { CallStates, callStatesDefaults } from "#proxy/neutral/state/call-states";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { createStateKeeper } from "#proxy/neutral/state/state-keeper";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import {
  conversation,
  readBody,
  replyContext,
  writeBody,
  writeWhole,
} from "#test/support/translation/messages-exchange";

const thinkingOn = { mode: "on", show: true, carriesBlocks: true } as const;

function keepers(): (channel: string, format: ChatWireFormat) => StateKeeper {
  const callStates = new CallStates({ ...callStatesDefaults, clock: () => 0 });
  return (channel, format) =>
    createStateKeeper({ channel, secrets: () => [channel], format, key: "ns/app", mayRemember: true }, callStates);
}

/** What the client says next after a reply of these blocks, with the result of its call. */
function nextCall(
  blocks: readonly ReplyBlock[],
  states: StateKeeper,
  reasoning: Conversation["reasoning"],
): Conversation {
  const context = replyContext({ states, conversation: conversation({ reasoning }) });
  const candidates = [{ blocks, finish: { reason: "tool-calls" } as const }];
  const { content } = writeWhole({ id: undefined, model: undefined, candidates, usage: undefined }, context);
  const messages = [
    { role: "user", content: "hi" },
    { role: "assistant", content },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_a", content: "1" }] },
  ];
  return readBody({ messages: JSON.parse(JSON.stringify(messages)) });
}

function recovered({ turns }: Conversation, states: StateKeeper): ProviderState[] {
  return turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === "call" || part.kind === "reasoning" ? [...states.recover(part)] : [])),
  );
}

const call = (states: ProviderState[] = []): ReplyBlock => ({
  kind: "call",
  id: "call_a",
  name: "f",
  tool: "function",
  arguments: "{}",
  states,
});
const thought = (states: ProviderState[]): ReplyBlock => ({ kind: "reasoning", text: "T", states });

const rows: {
  name: string;
  format: ChatWireFormat;
  state: ProviderState;
  blocks: (state: ProviderState) => ReplyBlock[];
}[] = [
  {
    name: "a signature of Google's on a call",
    format: "GenerateContent",
    state: { kind: "thought-signature", data: "TSIG" },
    blocks: (state) => [thought([]), call([state])],
  },
  {
    name: "reasoning that OpenAI encrypted",
    format: "Responses",
    state: { kind: "encrypted-reasoning", id: "rs_1", data: "ENC", summary: ["T"] },
    blocks: (state) => [thought([state]), call()],
  },
  {
    name: "thinking of another channel of the vendor",
    format: "Messages",
    state: { kind: "thinking", text: "T", signature: "SIG" },
    blocks: (state) => [thought([state]), call()],
  },
];

describe("messages: state of providers in the hands of a client", () => {
  for (const { name, format, state, blocks } of rows) {
    for (const [manner, reasoning] of [
      ["in its blocks", thinkingOn],
      ["in memory, for it takes no blocks", undefined],
    ] as const) {
      it(`brings ${name} back ${manner}`, () => {
        const keeperOf = keepers();
        const owner = keeperOf("ns/owner", format);
        const next = nextCall(blocks(state), owner, reasoning);
        assert.deepEqual(recovered(next, owner), [state]);
        assert.deepEqual(recovered(next, keeperOf("ns/other", format)), []);
      });
    }

    it(`pitfall 91: sends ${name} to no other channel`, () => {
      const keeperOf = keepers();
      const next = nextCall(blocks(state), keeperOf("ns/owner", format), thinkingOn);
      const { body } = writeBody(next, { states: keeperOf("ns/anthropic", "Messages") });
      const written = JSON.stringify(body);
      for (const word of ["tg1.", "TSIG", "ENC", "SIG", '"thinking"']) assert.ok(!written.includes(word), word);
    });
  }

  it("sends thinking that this gateway sealed for a channel to that channel as it was signed", () => {
    const keeperOf = keepers();
    const owner = keeperOf("ns/anthropic", "Messages");
    const state = { kind: "thinking", text: "T", signature: "SIG" } as const;
    const next = nextCall([thought([state]), call()], owner, thinkingOn);
    const { body } = writeBody(next, { states: owner });
    assert.deepEqual(Object(body["messages"])[1].content[0], { type: "thinking", thinking: "T", signature: "SIG" });
  });

  it("takes what a client changed in an envelope for nothing", () => {
    const owner = keepers()("ns/owner", "GenerateContent");
    const envelope = owner.seal([{ kind: "thought-signature", data: "TSIG" }]);
    const forged = envelope.replace(/^tg1\../, "tg1.X");
    assert.notEqual(forged, envelope);
    const content = [
      { type: "thinking", thinking: "", signature: forged },
      { type: "tool_use", id: "call_a", name: "f", input: {} },
    ];
    assert.deepEqual(recovered(readBody({ messages: [{ role: "assistant", content }] }), owner), []);
  });
});
