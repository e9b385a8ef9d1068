/** The answer of docs/design/translation.md 13 as neutral events. */

import type { ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { callPart, close, delta, end, open, start, textPart } from "./reply-events.ts";

const usage = { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 17, reasoning: 20 };

/** What the golden answer's thinking is sealed from. */
export const goldenState = { kind: "thinking", text: "T", signature: "SIG" } as const;

export const golden: readonly ReplyEvent[] = [
  start,
  open(0, { kind: "reasoning" }),
  delta(0, "T"),
  { type: "state", candidate: 0, part: 0, state: goldenState },
  close(0),
  ...textPart(1, "Hi"),
  ...callPart(2, "call_a", "f", "{}"),
  ...callPart(3, "call_b", "g", '{"x":1}'),
  { type: "finish", candidate: 0, finish: { reason: "tool-calls" } },
  { type: "usage", usage },
  end,
];
