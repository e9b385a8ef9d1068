/** Answers of this format in the other manner (`translate/own-format/`). */
import type { OwnFormat } from "../../own-format/own-format.ts";
import { foldStream } from "./fold-stream.ts";
import { unfoldReply } from "./unfold-reply.ts";

export const messagesOwnFormat: OwnFormat = { foldStream, unfoldReply };
