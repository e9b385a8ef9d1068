/** Answers of this format in the other manner (`translate/own-format/`). */
import type { Aggregation } from "#proxy/formats/aggregate/aggregation";
import { aggregateStream } from "./aggregate-stream.ts";
import { replayReply } from "./replay-reply.ts";

export const messagesAggregation: Aggregation = { aggregateStream, replayReply };
