/**
 * Translates one call to an upstream of another format, and its reply back: the order of the steps of translation.
 *
 * `TranslatableCall` is read once for a call; each attempt on a target of another format makes a `Translation` of it.
 * The written body then takes the same way as a client's own: it is read strictly and edited by the target format's
 * `UpstreamFormat`, so that privacy, channel rules and the model name are handled in one place.
 * `dispatch/prepare-attempt.ts` calls it.
 */
import { GatewayError } from "#proxy/errors";
import type { ChatCall, ChatEndpoint, ReplyReading, UpstreamFormat } from "#proxy/formats/format";
import { clientFormats, upstreamFormats } from "#proxy/formats/registry";
import type { ReplyAdaptation, ReplyContext, TranslationTarget } from "#proxy/formats/translator";
import type { SpliceLimits, TurnSplicer } from "#proxy/formats/turn-splicer";
import { jsonText, parseJsonText, startsObject } from "#proxy/json/json-text";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { scanJsonObject, scanWrittenObject } from "#proxy/json/strict-json";
import { defaultLimits } from "#proxy/limits";
import { aggregateReply, ReplyAggregator } from "#proxy/neutral/aggregate-reply";
import type { Conversation } from "#proxy/neutral/conversation";
import { exceedsStopLimits, stopLimits } from "#proxy/neutral/filters/cut-at-stop";
import { Losses } from "#proxy/neutral/losses/losses";
import { parseBody } from "#proxy/neutral/parse-body";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Reply } from "#proxy/neutral/reply";
import { envelopeMark } from "#proxy/neutral/state/envelope";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { TokenUsage } from "#proxy/settle/usage";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";
import { ReplyAdapter } from "./adapt-reply.ts";
import type { ReplyBridge, WholeReply } from "./reply-bridge.ts";
import { StreamTranslator } from "./stream-translator.ts";
import { clientTranslators, upstreamTranslators } from "./translators.ts";

/** A client's call, read once for all its attempts. */
export interface TranslatableCall {
  readonly call: ChatCall;
  readonly body: JsonObject;
  readonly conversation: Conversation;
}

/**
 * @param asSent the client's body where the call's own is another, because references in it were resolved
 * @throws GatewayError naming what cannot be carried to any other format
 */
export function readTranslatableCall(call: ChatCall, asSent?: JsonObject): TranslatableCall {
  return readParsedRequest(call, parseClientBody(call), asSent);
}

/** The first step of `readTranslatableCall`. */
export function parseClientBody(call: ChatCall): JsonObject {
  const body = parseJsonText(call.body.bytes.toString("utf8"));
  if (!isObject(body)) throw new TypeError("a scanned body is an object");
  return body;
}

/** The second step. @param body by `parseClientBody` */
export function readParsedRequest(call: ChatCall, body: JsonObject, asSent?: JsonObject): TranslatableCall {
  const conversation = clientTranslators[call.endpoint.format].readRequest(body, call.endpoint);
  return { call, body: asSent ?? body, conversation };
}

export interface TranslationOptions {
  readonly format: ChatWireFormat;
  readonly target: Omit<TranslationTarget, "fieldName">;
  readonly unsupportedParameters: "Ignore" | "Reject";
  readonly nowSeconds: number;
  readonly newId: (prefix: string) => string;
  /** Prompt tokens as estimated for the reservation. */
  readonly inputTokensEstimate: number;
  readonly jsonKeysMax: number;
  readonly onResponse?: ReplyContext["onResponse"];
  readonly opening?: ReplyContext["opening"];
}

const tooManyStops =
  `may hold ${stopLimits.sequences} sequences of ${stopLimits.charactersTogether} characters together ` +
  "for the selected model.";

/** A call said in another format, not yet as bytes. */
export interface TranslatedRequest {
  readonly body: JsonObject;
  readonly adaptation: ReplyAdaptation;
  /** Client's fields that were dropped. */
  readonly dropped: readonly string[];
}

/** The first step of `Translation.toAnotherFormat`. @throws GatewayError as that does */
export function translateRequest(client: TranslatableCall, options: TranslationOptions): TranslatedRequest {
  const { format, target, unsupportedParameters } = options;
  const losses = new Losses(unsupportedParameters);
  const { fieldNames } = clientTranslators[client.call.endpoint.format];
  const { body, adaptation } = upstreamTranslators[format].writeRequest(
    client.conversation,
    { ...target, fieldName: (field) => client.conversation.clientSpelling?.[field] ?? fieldNames[field] },
    losses,
  );
  if (exceedsStopLimits(adaptation.stop ?? [])) losses.refuse(fieldNames.stop, tooManyStops);
  return { body, adaptation, dropped: losses.dropped };
}

const noTools: ReadonlySet<string> = new Set();

/** Wrapping a client's content takes a few levels more than the client may use. */
const depthMax = 96;

export class Translation implements ReplyBridge {
  /** Format spoken with the upstream. */
  readonly format: UpstreamFormat;
  /** The call as the upstream's format reads it. */
  readonly upstreamCall: ChatCall;
  /** Client's fields that were dropped. */
  readonly dropped: readonly string[];
  readonly #client: TranslatableCall;
  readonly #adaptation: ReplyAdaptation;
  readonly #options: TranslationOptions;
  #last: { readonly body: Buffer; readonly json: JsonObject } | undefined;

  private constructor(
    client: TranslatableCall,
    options: TranslationOptions,
    upstream: { readonly call: ChatCall; readonly adaptation: ReplyAdaptation; readonly dropped: readonly string[] },
  ) {
    this.format = upstreamFormats[options.format];
    this.upstreamCall = upstream.call;
    this.dropped = upstream.dropped;
    this.#client = client;
    this.#adaptation = upstream.adaptation;
    this.#options = options;
  }

  /** Says the call in another format. @throws GatewayError naming the client's field, for what this target cannot take */
  static toAnotherFormat(client: TranslatableCall, options: TranslationOptions): Translation {
    return Translation.ofWritten(client, options, translateRequest(client, options));
  }

  /** The second step of `toAnotherFormat`. @param written by `writeRequest` of the same */
  static ofWritten(client: TranslatableCall, options: TranslationOptions, written: TranslatedRequest): Translation {
    const { format: name, jsonKeysMax } = options;
    const format = upstreamFormats[name];
    const bytes = Buffer.from(jsonText(written.body));
    const keysMax = jsonKeysMax * 2;
    const scanned = scanWrittenObject(bytes, { depthMax, keysMax, watch: format.watchedKeys }, (cause) => {
      const message =
        "The body is too large for the selected model: in the format of the model's provider it has more than " +
        `${keysMax} keys or ${depthMax} levels of nesting, or too many array items; send a smaller one.`;
      return new GatewayError("invalid_value", message, { cause });
    });
    const call = format.readCall(scanned, upstreamEndpoint(client, name));
    return new Translation(client, options, { call, adaptation: written.adaptation, dropped: written.dropped });
  }

  /**
   * Meter of the upstream's stream that lets out the client's.
   * @param responseBytesMax of the whole response, framing not counted
   * @param waitsForUsage whether its end waits for `writeUsage` where the upstream told too little
   */
  createStreamFilter(
    eventBytesMax: number,
    responseBytesMax = defaultLimits.replyBodyBytesMax,
    waitsForUsage = false,
  ): StreamTranslator {
    // The client's writer decides whether usage is shown; it must arrive here in any case.
    const call = { ...this.upstreamCall, wantsStreamUsage: true };
    return new StreamTranslator({
      createInner: (onEvent) => this.format.createStreamFilter(call, eventBytesMax, onEvent),
      reader: upstreamTranslators[this.format.format].createStreamReader(this.#declaredTools()),
      adapter: this.#createAdapter(false),
      writer: this.#clientTranslator.createStreamWriter(this.#context()),
      charactersMax: responseBytesMax,
      waitsForUsage,
    });
  }

  /**
   * Whether the client is told usage in any case: its format has no response without (docs/design/translation.md 8.2).
   */
  get tellsUsage(): boolean {
    const { format } = this.#client.call.endpoint;
    return format === "Messages" || format === "Responses";
  }

  /** Undefined where the upstream has no reason to pause. @param request body as it is sent */
  createTurnSplicer(request: Buffer, limits: SpliceLimits): TurnSplicer | undefined {
    if (this.#adaptation.mayPause !== true) return undefined;
    return upstreamTranslators[this.format.format].createTurnSplicer?.(request, limits);
  }

  readReply(body: Buffer): ReplyReading {
    return this.format.readReply(body, this.#parsed(body));
  }

  translateReply(body: Buffer, told?: TokenUsage): WholeReply {
    const adapted = this.#adapted(this.#read(body));
    const reply = told === undefined ? adapted : { ...adapted, usage: told };
    return { body: Buffer.from(JSON.stringify(this.#clientTranslator.writeReply(reply, this.#context()))), lost: [] };
  }

  streamOfReply(body: Buffer, told?: TokenUsage): readonly Buffer[] {
    const writer = this.#clientTranslator.createStreamWriter(this.#context());
    const adapter = this.#createAdapter(true);
    const read = this.#read(body);
    const usage = told ?? read.usage;
    const reply = { ...read, usage };
    let text = "";
    for (const event of replayReply(reply)) {
      for (const adapted of adapter.adapt(event)) {
        // A stop sequence ends it all before usage would come, and it is known already.
        text += writer.write(adapted.type === "usage" && usage !== undefined ? { type: "usage", usage } : adapted);
      }
    }
    return [Buffer.from(text)];
  }

  #createAdapter(isWhole: boolean): ReplyAdapter {
    const { candidates } = this.#client.conversation.sampling;
    return new ReplyAdapter(this.#adaptation, this.#options.inputTokensEstimate, candidates, isWhole);
  }

  #declaredTools(): ReadonlySet<string> {
    const { tools } = this.#client.conversation;
    if (tools.length === 0) return noTools;
    return new Set(tools.flatMap((tool) => (tool.kind === "hosted" ? [] : [tool.name])));
  }

  #read(body: Buffer): Reply {
    const translator = upstreamTranslators[this.format.format];
    if (startsObject(body)) return translator.readReply(this.#parsed(body), this.#declaredTools());
    const reader = translator.createStreamReader(this.#declaredTools());
    const read = splitEvents(body).flatMap((bytes) => {
      const { name, data, stray } = readEventFields(bytes);
      const payload = data ?? stray;
      return payload === undefined ? [] : reader.read({ name, data: payload });
    });
    return aggregateReply([...read, ...reader.end()]);
  }

  /** A body is read for what it costs and then for what it says: parsed once for both. */
  #parsed(body: Buffer): JsonObject {
    if (this.#last?.body !== body) this.#last = { body, json: parseBody(body) };
    return this.#last.json;
  }

  #adapted(reply: Reply): Reply {
    const adapter = this.#createAdapter(true);
    if (adapter.changesNothing) return reply;
    const aggregator = new ReplyAggregator();
    for (const event of replayReply(reply)) {
      // Usage comes after the text that a stop sequence cuts.
      const isUsage = event.type === "usage";
      for (const adapted of isUsage ? [event] : adapter.adapt(event)) aggregator.add(adapted);
    }
    return aggregator.reply();
  }

  get #clientTranslator() {
    return clientTranslators[this.#client.call.endpoint.format];
  }

  #context(): ReplyContext {
    const { call, body, conversation } = this.#client;
    const { nowSeconds, newId, target, inputTokensEstimate, onResponse, opening } = this.#options;
    return {
      conversation,
      clientBody: body,
      endpoint: call.endpoint,
      // Without a search there are none, and clients take items in the order in which they are done.
      citesLate: upstreamTranslators[this.format.format].citesLate === true && conversation.tools.some(isHosted),
      wantsStreamUsage: call.wantsStreamUsage,
      inputTokensEstimate,
      nowSeconds,
      newId,
      states: target.states,
      opening,
      onResponse,
    };
  }
}

function isHosted({ kind }: Conversation["tools"][number]): boolean {
  return kind === "hosted";
}

function upstreamEndpoint(client: TranslatableCall, format: ChatWireFormat): ChatEndpoint {
  const { capability } = client.call.endpoint;
  const endpoint = { protocol: upstreamFormats[format].protocol, format, capability } as const;
  if (format !== "GenerateContent") return endpoint;
  const named = { ...endpoint, modelInPath: client.call.model };
  return client.call.stream ? { ...named, geminiStream: "sse" } : named;
}

const sealedStarts = new Map<ChatWireFormat, readonly Buffer[]>();

/**
 * How a member with sealed state begins, its quote before it: the search stops at each first byte that fits, and quotes
 * are rare in megabytes of prose (measured: 11 us a megabyte, and 450 without it).
 */
function sealedStartsOf(format: ChatWireFormat): readonly Buffer[] {
  let starts = sealedStarts.get(format);
  if (starts === undefined) {
    starts = (clientTranslators[format].sealedStateMarks ?? [envelopeMark]).map((mark) => Buffer.from(`"${mark}`));
    sealedStarts.set(format, starts);
  }
  return starts;
}

/** Whether `withoutSealedState` must read the call. */
export function mayHoldSealedState(call: ChatCall): boolean {
  return sealedStartsOf(call.endpoint.format).some((start) => call.body.bytes.includes(start));
}

/**
 * A call in its own format whose history holds state that this gateway sealed for channels of other formats: without
 * it, since no provider takes another's (docs/design/translation.md 6.2). The same call when there is none.
 */
export function withoutSealedState(call: ChatCall): ChatCall {
  if (!mayHoldSealedState(call)) return call;
  const body = parseBody(call.body.bytes);
  const cleaned = clientTranslators[call.endpoint.format].removeSealedState(body);
  if (cleaned === body) return call;
  const format = clientFormats[call.endpoint.format];
  const bytes = Buffer.from(JSON.stringify(cleaned));
  // Less than what was read within its bounds, which are wider where the call goes on from a kept conversation.
  const scanned = scanJsonObject(bytes, { depthMax, keysMax: Number.POSITIVE_INFINITY, watch: format.watchedKeys });
  return format.readCall(scanned, call.endpoint);
}
