/** Makes whole replies of streams and streams of whole replies, where both sides speak generateContent. */
import type { Aggregation } from "#proxy/formats/aggregate/aggregation";
import { aggregateStream } from "./aggregate-stream.ts";
import { replayReply } from "./replay-reply.ts";

export const generateContentAggregation: Aggregation = { aggregateStream, replayReply };
