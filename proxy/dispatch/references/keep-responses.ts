/**
 * Stores the response of one call, so that a later call can continue it (docs/design/responses.md 7): the whole
 * conversation where the gateway translated, or the place where the provider keeps it where the provider speaks the
 * client's format.
 *
 * Nothing is stored of a call with `store: false`, of a channel that forbids storing, and of any format but responses.
 */
import type { AdmittedChat } from "#proxy/dispatch/admitted-call";
import type { StreamFilter } from "#proxy/formats/format";
import { ResponsesStreamFilter } from "#proxy/formats/responses/native/stream-filter";
import { asList, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import { newId } from "#proxy/neutral/ids/new-id";
import { localResponse, mayKeep, nativeResponse } from "#proxy/responses-state/keep-response";
import type { SelectedTarget } from "#proxy/route/select-target";
import { ownerOf } from "./resolve-call.ts";

export class ResponseKeeper {
  readonly #admitted: AdmittedChat;
  #asSent: JsonObject | undefined;
  #isStored = false;

  constructor(admitted: AdmittedChat) {
    this.#admitted = admitted;
    this.#asSent = admitted.references?.asSent;
  }

  /** For a translated reply; undefined when nothing of it may be stored. */
  onResponse({ channel }: SelectedTarget): ((response: JsonObject) => void) | undefined {
    if (!this.#mayKeep(channel.privacy.store)) return undefined;
    const { call, found, services } = this.#admitted;
    return (response) => {
      const kept = localResponse(this.#body(), response, { nowMs: services.now(), model: call.model, newId });
      this.#isStored = true;
      if (kept !== undefined) services.responses.keep(ownerOf(found), kept);
    };
  }

  /** A whole reply of a provider that speaks the format. */
  keepReply(selected: SelectedTarget, body: Buffer): void {
    if (this.#isStored || !this.#isOwnFormat(selected)) return;
    this.#keepNative(selected, parseJson(body.toString("utf8")));
  }

  keepStream(selected: SelectedTarget, filter: StreamFilter): void {
    if (this.#isStored || !this.#isOwnFormat(selected) || !(filter instanceof ResponsesStreamFilter)) return;
    this.#keepNative(selected, filter.lastResponse);
  }

  #isOwnFormat({ format, channel }: SelectedTarget): boolean {
    return format === "Responses" && this.#mayKeep(channel.privacy.store);
  }

  #keepNative({ target, credential }: SelectedTarget, response: unknown): void {
    const { call, found, services } = this.#admitted;
    const items = asList(member(response, "output"));
    const kept = nativeResponse(this.#asSent ?? {}, response, items, {
      nowMs: services.now(),
      model: call.model,
      channel: target.channel,
      credential: credential?.name,
    });
    if (kept !== undefined) services.responses.keep(ownerOf(found), kept);
  }

  #mayKeep(policy: "PassThrough" | "ForceFalse"): boolean {
    const { call } = this.#admitted;
    if (call.endpoint.format !== "Responses") return false;
    return mayKeep({ store: call.body.member("store")?.kind !== "false" }, policy);
  }

  #body(): JsonObject {
    if (this.#asSent === undefined) {
      const body = parseJson(this.#admitted.call.body.bytes.toString("utf8"));
      this.#asSent = isObject(body) ? body : {};
    }
    return this.#asSent;
  }
}
