/**
 * Aggregates streams into whole replies and replays whole replies as streams, where both sides speak generateContent.
 */
import type { Aggregation } from "#proxy/formats/aggregate/aggregation";
import { aggregateStream } from "./aggregate-stream.ts";
import { replayReply } from "./replay-reply.ts";

export const generateContentAggregation: Aggregation = { aggregateStream, replayReply };
