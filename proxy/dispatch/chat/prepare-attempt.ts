/**
 * Prepares the request to one target for an admitted call: the client's bytes with the channel's edits where the
 * channel speaks the client's format, a translation where it does not.
 *
 * There is one instance for each call, so that the client's body is read for translation once, on first need.
 * `serve-chat.ts` calls it before anything is reserved on the channel.
 */
import { setImmediate as otherWork } from "node:timers/promises";
import type { AdmittedChat } from "#proxy/dispatch/admitted-call";
import { LargeBodyWork, readBytesOfByte, writtenBytesOfByte } from "#proxy/dispatch/large-body-work";
import { ResponseKeeper } from "#proxy/dispatch/references/keep-responses";
import { unknownReference } from "#proxy/dispatch/references/resolve-call";
import type { PreparedCall } from "#proxy/dispatch/serve-call";
import { GatewayError, requireGatewayError } from "#proxy/errors";
import type { ChatCall, UpstreamFormat } from "#proxy/formats/format";
import { upstreamFormats } from "#proxy/formats/registry";
import type { StreamOpening } from "#proxy/formats/stream/stream-opening";
import { defaultVersion } from "#proxy/http/header-rules";
import { ClientGoneError } from "#proxy/http/read-body";
import type { MediaPart } from "#proxy/neutral/conversation";
import { newId } from "#proxy/neutral/ids/new-id";
import { canBe, mediaToFetch, replaceMedia } from "#proxy/neutral/media/inline-media";
import { sniffMime } from "#proxy/neutral/media/sniff-mime";
import { createStateKeeper } from "#proxy/neutral/state/state-keeper";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { checkTranslatedParameters, clientsName, unsupportedMembers } from "#proxy/parameters/route-parameters";
import { mayKeep } from "#proxy/responses-state/keep-response";
import type { SelectedTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import { yieldToBatch } from "#proxy/runtime/request-batch";
import { droppedLabel } from "#proxy/translate/dropped-fields";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import { SameFormatBridge } from "#proxy/translate/same-format-bridge";
import {
  mayHoldSealedState,
  parseClientBody,
  readParsedRequest,
  readTranslatableCall,
  type TranslatableCall,
  Translation,
  type TranslationOptions,
  translateRequest,
  withoutSealedState,
} from "#proxy/translate/translation";
import { upstreamTranslators } from "#proxy/translate/translators";
import { ChatReader } from "#proxy/upstream/reply/chat-reader";
import { buildUpstreamRequest } from "#proxy/upstream/request/build-upstream-request";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";

const noFields: readonly string[] = [];

type ChatTarget = SelectedTarget<ChatWireFormat>;

export interface PreparedAttempt extends PreparedCall {
  readonly request: UpstreamRequest<Buffer>;
  /** Spoken with the upstream. */
  readonly format: UpstreamFormat;
  /** As the upstream reads it. */
  readonly call: ChatCall;
  /** Undefined where both sides speak one format. */
  readonly translation: Translation | undefined;
  /** Stores the response, where a later call may continue it. */
  readonly keeper: ResponseKeeper;
}

export class AttemptPreparation {
  readonly #admitted: AdmittedChat;
  readonly #keeper: ResponseKeeper;
  #client: TranslatableCall | undefined;
  #ownCall: ChatCall | undefined;
  readonly #work: LargeBodyWork;
  #fileBytes = 0;
  /** What the last translation of a large body holds: that of another attempt takes its place. */
  #writtenBytes = 0;

  readonly #opening: StreamOpening | undefined;

  /** @param opening what a streaming client was told before any reply */
  constructor(admitted: AdmittedChat, opening?: StreamOpening) {
    this.#admitted = admitted;
    this.#opening = opening;
    this.#work = new LargeBodyWork(admitted);
    this.#keeper = new ResponseKeeper(admitted);
  }

  /**
   * A promise only where the call must be translated.
   * @returns why this target must not get the call: known before anything is reserved on its channel
   */
  prepare(selected: ChatTarget): PreparedAttempt | GatewayError | Promise<PreparedAttempt | GatewayError> {
    const objection = objectionTo(selected, this.#admitted);
    if (objection !== undefined) return objection;
    try {
      return this.#prepare(selected);
    } catch (error) {
      return requireGatewayError(error);
    }
  }

  /** Lets go of the files that were fetched and of what was made of a large body; once, when the call is over. */
  release(): void {
    this.#work.release();
  }

  #prepare(selected: ChatTarget): PreparedAttempt | Promise<PreparedAttempt | GatewayError> {
    const { call, references } = this.#admitted;
    const isLarge = this.#work.isLarge(this.#work.bodyBytes);
    if (selected.format === call.endpoint.format) {
      const mustBeCleaned = isLarge && this.#ownCall === undefined && mayHoldSealedState(call);
      return mustBeCleaned ? this.#cleanedLarge(selected).catch(requireGatewayError) : this.#inOwnFormat(selected);
    }
    if (isLarge && this.#client === undefined) {
      return this.#readLarge()
        .then((client) => this.#translatedFor(selected, client))
        .catch(requireGatewayError);
    }
    this.#client ??= readTranslatableCall(call, references?.asSent);
    return this.#translatedFor(selected, this.#client);
  }

  #inOwnFormat(selected: ChatTarget): PreparedAttempt {
    return this.#prepared(selected, upstreamFormats[selected.format], this.#cleanCall(), undefined);
  }

  #readLarge(): Promise<TranslatableCall> {
    const { call, references } = this.#admitted;
    const { length } = call.body.bytes;
    return this.#work.inTurn(length, length * readBytesOfByte, async () => {
      const body = parseClientBody(call);
      await otherWork();
      this.#client = readParsedRequest(call, body, references?.asSent);
      await otherWork();
      return this.#client;
    });
  }

  #cleanedLarge(selected: ChatTarget): Promise<PreparedAttempt> {
    const { length } = this.#admitted.call.body.bytes;
    return this.#work.inTurn(length, length * writtenBytesOfByte, async () => {
      this.#cleanCall();
      await otherWork();
      return this.#inOwnFormat(selected);
    });
  }

  /** A stage of its own: what the client said has been read, by this call and the others of its batch. */
  async #translatedFor(selected: ChatTarget, client: TranslatableCall): Promise<PreparedAttempt | GatewayError> {
    await yieldToBatch;
    try {
      const prepared = this.#translate(selected, client);
      return prepared instanceof Promise ? await prepared : prepared;
    } catch (error) {
      return requireGatewayError(error);
    }
  }

  /** A promise only where files must be fetched or the body is large. */
  #translate(selected: ChatTarget, client: TranslatableCall): PreparedAttempt | Promise<PreparedAttempt> {
    const target = targetOf(this.#admitted, selected);
    const needs = upstreamTranslators[selected.format].needsDownload;
    const files = needs === undefined ? [] : mediaToFetch(client.conversation, (part) => needs(part, target));
    if (files.length === 0) return this.#translateWhole(client, selected, target);
    return this.#fetched(client, files).then((whole) => this.#translateWhole(whole, selected, target));
  }

  #translateWhole(
    client: TranslatableCall,
    selected: ChatTarget,
    target: TranslationOptions["target"],
  ): PreparedAttempt | Promise<PreparedAttempt> {
    const bytes = this.#admitted.call.body.bytes.length + this.#fileBytes;
    if (this.#work.isLarge(bytes)) {
      return this.#translatedLarge(client, selected, target, bytes);
    }
    const translation = Translation.toAnotherFormat(client, this.#optionsFor(selected, target));
    return this.#translated(translation, client, selected);
  }

  #translatedLarge(
    client: TranslatableCall,
    selected: ChatTarget,
    target: TranslationOptions["target"],
    bytes: number,
  ): Promise<PreparedAttempt> {
    this.#work.release(this.#writtenBytes);
    this.#writtenBytes = 0;
    const keptBytes = bytes * writtenBytesOfByte;
    return this.#work.inTurn(bytes, keptBytes, async () => {
      this.#writtenBytes = keptBytes;
      const options = this.#optionsFor(selected, target);
      const written = translateRequest(client, options);
      await otherWork();
      const translation = Translation.ofWritten(client, options, written);
      await otherWork();
      const prepared = this.#translated(translation, client, selected);
      if (prepared.request.body === translation.upstreamCall.body.bytes) {
        this.#work.release(bytes);
        this.#writtenBytes -= bytes;
      }
      return prepared;
    });
  }

  async #fetched(client: TranslatableCall, files: readonly MediaPart[]): Promise<TranslatableCall> {
    const { exchange, settlement } = this.#admitted;
    if (files.length > filesMax) throw tooManyFiles(files[filesMax]);
    settlement.countFetch();
    const stop = new AbortController();
    exchange.whenClosed(() => stop.abort());
    if (exchange.response.destroyed) stop.abort();
    const fetching = files.map((file) => this.#fetch(file, stop.signal));
    try {
      const replacements = new Map(await Promise.all(fetching));
      // Another attempt finds them fetched.
      this.#client = { ...client, conversation: replaceMedia(client.conversation, replacements) };
      return this.#client;
    } catch (error) {
      if (exchange.response.destroyed) throw new ClientGoneError(error);
      throw error;
    } finally {
      // What is still on its way is of no use without the others, and must not be held after its call.
      stop.abort();
      await Promise.allSettled(fetching);
      exchange.whenClosed(undefined);
    }
  }

  async #fetch(file: MediaPart, signal: AbortSignal): Promise<readonly [MediaPart, MediaPart]> {
    const { mediaDownloads } = this.#admitted.services;
    if (file.source.type !== "url") return [file, file];
    const hold = (bytes: number): void => {
      this.#work.hold(bytes);
      this.#fileBytes += bytes;
    };
    const { where = "content" } = file;
    const { base64, mime } = await mediaDownloads.fetch(file.source.url, where, { signal, hold });
    const sniffed = sniffMime(base64);
    if (!canBe(file.media, sniffed ?? mime)) {
      throw new GatewayError("invalid_value", `The file at '${where}' is no ${file.media}.`, { param: where });
    }
    return [file, { ...file, mime: sniffed ?? file.mime ?? mime, source: { type: "data", base64 } }];
  }

  #translated(translation: Translation, client: TranslatableCall, selected: ChatTarget): PreparedAttempt {
    checkTranslatedParameters({ client: client.call, upstream: translation.upstreamCall }, this.#admitted.route);
    return this.#prepared(selected, translation.format, translation.upstreamCall, translation);
  }

  #prepared(
    selected: ChatTarget,
    format: UpstreamFormat,
    call: ChatCall,
    translation: Translation | undefined,
  ): PreparedAttempt {
    const { route, passedHeaders, estimate, services } = this.#admitted;
    const calls = { client: translation === undefined ? call : this.#admitted.call, upstream: call };
    const { members, dropped } = unsupportedMembers(calls, route, selected.channel);
    const headers = translation === undefined ? passedHeaders : headersOfFormat(format, passedHeaders);
    const edits = {
      outputCap: estimate.outputCap,
      unsupported: members,
      clientsName: translation === undefined ? undefined : (name: string) => clientsName(calls, name),
    };
    const request = buildUpstreamRequest(format, call, { ...selected, route }, headers, edits, services.limits);
    const bridge = (): ReplyBridge => translation ?? new SameFormatBridge({ call, newId });
    return {
      request,
      reader: new ChatReader({ format, call, translation, bridge }, services.limits),
      format,
      call,
      translation,
      dropped: this.#declared(translation?.dropped ?? noFields, dropped, request.dropped),
      keeper: this.#keeper,
    };
  }

  /** Nearly always there is nothing to declare. */
  #declared(byTranslation: readonly string[], byRoute: readonly string[], byChannel: readonly string[]) {
    if (byTranslation.length + byRoute.length + byChannel.length === 0) return noFields;
    const fields = [...new Set([...byTranslation, ...byRoute, ...byChannel])];
    const { format } = this.#admitted.call.endpoint;
    for (const field of fields) this.#admitted.services.metrics.parameterDropped(format, droppedLabel(format, field));
    return fields;
  }

  #cleanCall(): ChatCall {
    this.#ownCall ??= withoutSealedState(this.#admitted.call);
    return this.#ownCall;
  }

  #optionsFor(selected: ChatTarget, target: TranslationOptions["target"]): TranslationOptions {
    const { services, estimate } = this.#admitted;
    return {
      format: selected.format,
      target,
      unsupportedParameters: selected.channel.unsupportedParameters,
      nowSeconds: Math.floor(services.now() / 1000),
      newId,
      inputTokensEstimate: Number(estimate.amounts.inputTokens),
      jsonKeysMax: services.limits.jsonKeysMax,
      onResponse: this.#keeper.onResponse(selected),
      opening: this.#opening,
    };
  }
}

function targetOf(admitted: AdmittedChat, { channel, target, format }: ChatTarget): TranslationOptions["target"] {
  const { call, found, route, services, snapshot } = admitted;
  const secrets = (): readonly string[] =>
    channel.credentials.flatMap(({ name }) => snapshot.credential(channel.namespace, channel.name, name)?.secret ?? []);
  const key = `${found.key.namespace}/${found.key.name}`;
  const mayRemember = mayKeep({ store: call.body.member("store")?.kind !== "false" }, channel.privacy.store);
  const scope = { channel: target.channel, secrets, format, key, mayRemember };
  return {
    channel,
    upstreamModel: upstreamModelOf({ channel, target, route }, call.model),
    // With `unboundedOutput: Cap` this is sent as the cap afterwards, and what is planned for thinking must fit in it.
    outputTokensMax: least(route.info?.maxOutputTokens, admitted.estimate.outputCap),
    states: createStateKeeper(scope, services.callStates),
  };
}

function least(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || second === undefined ? (first ?? second) : Math.min(first, second);
}

/** More files in one call are no conversation but a way to make the gateway fetch. */
const filesMax = 16;

function tooManyFiles(first: MediaPart | undefined): GatewayError {
  const message = `At most ${filesMax} files may be given by URL. Send the others as data URLs.`;
  return new GatewayError("invalid_value", message, { param: first?.where ?? "content" });
}

/** What a client says in headers of its own format means nothing to another one, which may want some of its own. */
function headersOfFormat(
  { protocol }: UpstreamFormat,
  passed: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = passed;
  const headers: Record<string, string> = {};
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  if (tracestate !== undefined) headers["tracestate"] = tracestate;
  if (protocol === "Anthropic") headers["anthropic-version"] = defaultVersion;
  return headers;
}

/** Objects of an upstream account may belong to another tenant of it: refused unless the channel shares them. */
function objectionTo(selected: ChatTarget, { call, references }: AdmittedChat): GatewayError | undefined {
  const [param] = call.upstreamObjects;
  if (param === undefined || selected.channel.upstreamObjects === "Shared") return undefined;
  const unknown = references === undefined ? undefined : unknownReference(references);
  if (unknown !== undefined) return unknown;
  return new GatewayError(
    "unsupported_parameter",
    `'${param}' refers to an object that is kept by the provider, which is not supported for this model. Send the content itself.`,
    { param },
  );
}
