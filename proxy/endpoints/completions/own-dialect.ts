/** Passes calls of completions on to upstreams that serve the same (docs/design/completions.md 2). */
import type { Dialect } from "#proxy/endpoints/dialects/dialect";
import { editJsonBody } from "#proxy/endpoints/dialects/edit-json-body";
import { readEvents } from "#proxy/formats/aggregate/read-events";
import { isAbsent } from "#proxy/formats/body/body-rules";
import { capOutput, outputMembers } from "#proxy/formats/body/output-members";
import { createStreamFilter } from "#proxy/formats/chat-completions/native/stream-filter";
import { chatCompletionsUpstream } from "#proxy/formats/chat-completions/native/upstream-format";
import type { ReplyReading, StreamFilter, UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { asList, member, parseJson } from "#proxy/json/json-value";
import type { ProxyLimits } from "#proxy/limits";
import { parseBody } from "#proxy/neutral/parse-body";
import { InvalidReply } from "#proxy/neutral/reply";
import { providerOf } from "#proxy/providers/providers";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { ReplyReader, StreamReader } from "#proxy/upstream/reply/reply-reader";
import { contentTypeOf } from "./completion-writer.ts";
import { moveCap } from "./output-cap.ts";
import type { CompletionCall } from "./read-completion.ts";
import { completionOfChunks, eventsOfCompletion } from "./text-completion.ts";

/** @param limits of the events of a stream */
export function ownDialect(limits: Pick<ProxyLimits, "eventBytesMax">): Dialect<CompletionCall> {
  return {
    write: (call, plan) =>
      editJsonBody(
        call.body,
        "Completions",
        plan,
        (editor) => {
          moveCap(editor, "max_tokens");
          askForUsage(editor, call, plan);
        },
        (editor) => finish(editor, call, plan),
      ),
    reader: (call) => new CompletionReader(call, limits),
  };
}

/** As chat completions ask for it: without usage in the stream nothing could be billed but an estimate. */
function askForUsage(editor: BodyEditor, call: CompletionCall, { channel }: UpstreamPlan): void {
  if (!providerOf(channel).takesStreamOptions) editor.remove("stream_options");
  else if (call.stream && !call.wantsStreamUsage) editor.nested("stream_options").set("include_usage", "true");
}

function finish(editor: BodyEditor, call: CompletionCall, { outputCap }: UpstreamPlan): void {
  if (outputCap !== undefined) capOutput(editor, outputCap, outputMembers.Completions.caps, "max_tokens");
  if (!call.stream && isAbsent(editor, "stream_options")) editor.remove("stream_options");
}

/** Reads completions and their streams, which differ from those of chat in the place of the text alone. */
class CompletionReader implements ReplyReader, StreamReader {
  readonly isBridged = false;
  readonly contentType: string;
  readonly #call: CompletionCall;
  readonly #limits: Pick<ProxyLimits, "eventBytesMax">;

  constructor(call: CompletionCall, limits: Pick<ProxyLimits, "eventBytesMax">) {
    this.contentType = contentTypeOf(call);
    this.#call = call;
    this.#limits = limits;
  }

  get streams(): StreamReader {
    return this;
  }

  readReply(body: Buffer): ReplyReading {
    const json = parseJson(body.toString("utf8"));
    const reading = chatCompletionsUpstream.readReply(body, json);
    if (reading.error === undefined) requireTexts(json);
    return reading;
  }

  createFilter(): StreamFilter {
    return this.createOwnFilter(false);
  }

  createOwnFilter(isCollected: boolean): StreamFilter {
    const { wantsStreamUsage, candidates, prompts } = this.#call;
    const { eventBytesMax } = this.#limits;
    return createStreamFilter(isCollected || wantsStreamUsage, eventBytesMax, undefined, candidates * prompts);
  }

  bridge(): ReplyBridge {
    return {
      readReply: (body) => this.readReply(body),
      translateReply: (events) => ({ body: wholeOf(events), lost: [] }),
      streamOfReply: (body) => [...eventsOfCompletion(parseBody(body), this.#call.wantsStreamUsage)],
    };
  }
}

/** @throws InvalidReply for a reply of another endpoint, or of nothing */
function requireTexts(json: unknown): void {
  const choices = asList(member(json, "choices"));
  if (choices.length > 0 && choices.every((choice) => typeof member(choice, "text") === "string")) return;
  throw new InvalidReply("the reply is no text completion");
}

function* chunksOf(events: Buffer): Generator<Parameters<typeof eventsOfCompletion>[0]> {
  for (const { json } of readEvents(events)) yield json;
}

function wholeOf(events: Buffer): Buffer {
  return Buffer.from(JSON.stringify(completionOfChunks(chunksOf(events))));
}
