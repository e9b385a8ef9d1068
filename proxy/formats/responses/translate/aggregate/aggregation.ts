/** Answers of this format in the other manner (`translate/own-format/`). */
import type { OwnFormat } from "#proxy/formats/aggregate/aggregation";
import { foldStream } from "./aggregate-stream.ts";
import { unfoldReply } from "./replay-reply.ts";

export const responsesOwnFormat: OwnFormat = { foldStream, unfoldReply };
