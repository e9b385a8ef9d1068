/**
 * One Realtime session: events of a client in, events of the server out. Pure but for the numbers it gives out; the
 * WebSocket is `accept-realtime.ts`. Text goes in as items of the conversation, and each `response.create` repeats the
 * last of them. Audio is counted and not heard.
 */
import { answer, type DemoQuestion } from "#examples/demo-upstream/conversation";
import { count, isObject, type JsonObject, list, member, text } from "#examples/demo-upstream/json-view";

export type RealtimeEvent = { readonly type: string } & JsonObject;

/** PCM of 24 kHz and 16 bits: as OpenAI, one token for 100 ms. */
const audioBytesPerToken = 4800;

export class RealtimeSession {
  #session: JsonObject;
  #serial = 0;
  /** Characters of all items: the prompt of the next response. */
  #saidCharacters = 0;
  #lastUserText = "";
  #lastItemId: string | null = null;
  #audioBytes = 0;

  /** @param model as the query of the upgrade names it; a session for transcription names one later */
  constructor(id: string, model: string | undefined) {
    this.#session = {
      id,
      object: "realtime.session",
      type: "realtime",
      ...(model === undefined ? {} : { model }),
      output_modalities: ["text"],
      instructions: "",
      tools: [],
      tool_choice: "auto",
      max_output_tokens: "inf",
    };
  }

  /** What the client hears first. */
  open(): readonly RealtimeEvent[] {
    return [this.#event("session.created", { session: this.#session })];
  }

  /** @returns what the server says to one event of the client */
  receive(event: unknown): readonly RealtimeEvent[] {
    const type = text(member(event, "type"));
    if (!isObject(event) || type === undefined)
      return [this.#error(event, "type", "Missing required parameter: 'type'.")];
    switch (type) {
      case "session.update":
        return this.#update(event);
      case "conversation.item.create":
        return this.#createItem(event);
      case "input_audio_buffer.append":
        this.#audioBytes += Buffer.from(text(event["audio"]) ?? "", "base64").length;
        return [];
      case "input_audio_buffer.commit":
        return this.#commitAudio();
      case "input_audio_buffer.clear":
        this.#audioBytes = 0;
        return [this.#event("input_audio_buffer.cleared", {})];
      case "response.create":
        return this.#respond(event);
      case "response.cancel":
        return [
          this.#error(event, null, "Cancellation failed: no active response found.", "response_cancel_not_active"),
        ];
      default:
        return [this.#error(event, "type", `Invalid value: '${type}'.`, "invalid_value")];
    }
  }

  /** For a message that is no JSON. */
  refuse(message: string): readonly RealtimeEvent[] {
    return [this.#error(undefined, null, message)];
  }

  #update(event: JsonObject): readonly RealtimeEvent[] {
    const changes = event["session"];
    if (!isObject(changes)) return [this.#error(event, "session", "Missing required parameter: 'session'.")];
    this.#session = { ...this.#session, ...changes };
    return [this.#event("session.updated", { session: this.#session })];
  }

  #createItem(event: JsonObject): readonly RealtimeEvent[] {
    const given = event["item"];
    if (!isObject(given)) return [this.#error(event, "item", "Missing required parameter: 'item'.")];
    const said = list(given["content"])
      .map((part) => text(member(part, "text")) ?? "")
      .join("\n");
    if (given["role"] === "user") this.#lastUserText = said;
    this.#saidCharacters += said.length;
    return this.#addItem({ ...given, status: "completed" });
  }

  #commitAudio(): readonly RealtimeEvent[] {
    this.#lastUserText = `${this.#audioBytes} bytes of audio`;
    const previous = this.#lastItemId;
    const content = [{ type: "input_audio", transcript: null }];
    const added = this.#addItem({ type: "message", role: "user", status: "completed", content });
    return [
      this.#event("input_audio_buffer.committed", { previous_item_id: previous, item_id: this.#lastItemId }),
      ...added,
    ];
  }

  #addItem(item: JsonObject): readonly RealtimeEvent[] {
    const previous_item_id = this.#lastItemId;
    const id = text(item["id"]) ?? this.#nextId("item");
    this.#lastItemId = id;
    const whole = { ...item, id, object: "realtime.item" };
    return [
      this.#event("conversation.item.added", { previous_item_id, item: whole }),
      this.#event("conversation.item.done", { previous_item_id, item: whole }),
    ];
  }

  #respond(event: JsonObject): readonly RealtimeEvent[] {
    const options = event["response"];
    const { pieces, inputTokens, outputTokens, finish } = answer(this.#question(options));
    const said = pieces.join("");
    const responseId = this.#nextId("resp");
    const itemId = this.#nextId("item");
    const place = { response_id: responseId, item_id: itemId, output_index: 0, content_index: 0 };
    const response = (fields: object) => ({
      object: "realtime.response",
      id: responseId,
      status_details: null,
      output: [],
      output_modalities: ["text"],
      metadata: member(options, "metadata") ?? null,
      usage: null,
      ...fields,
    });
    const item = (status: string, content: readonly object[]) => ({
      id: itemId,
      object: "realtime.item",
      type: "message",
      status,
      role: "assistant",
      content,
    });
    const part = { type: "output_text", text: said };
    const done = item(finish === "length" ? "incomplete" : "completed", [part]);
    const audioTokens = Math.ceil(this.#audioBytes / audioBytesPerToken);
    const usage = usageOf(inputTokens, audioTokens, outputTokens);
    this.#audioBytes = 0;
    this.#saidCharacters += said.length;
    const previous_item_id = this.#lastItemId;
    this.#lastItemId = itemId;
    return [
      this.#event("response.created", { response: response({ status: "in_progress" }) }),
      this.#event("response.output_item.added", { ...outputPlace(place), item: item("in_progress", []) }),
      this.#event("conversation.item.added", { previous_item_id, item: item("in_progress", []) }),
      this.#event("response.content_part.added", { ...place, part: { type: "output_text", text: "" } }),
      ...pieces.map((delta) => this.#event("response.output_text.delta", { ...place, delta })),
      this.#event("response.output_text.done", { ...place, text: said }),
      this.#event("response.content_part.done", { ...place, part }),
      this.#event("conversation.item.done", { previous_item_id, item: done }),
      this.#event("response.output_item.done", { ...outputPlace(place), item: done }),
      this.#event("response.done", { response: response({ status: done.status, output: [done], usage }) }),
    ];
  }

  #question(options: unknown): DemoQuestion {
    const cap = member(options, "max_output_tokens") ?? this.#session["max_output_tokens"];
    const instructions = text(member(options, "instructions")) ?? text(this.#session["instructions"]) ?? "";
    return {
      model: text(this.#session["model"]) ?? "",
      text: this.#lastUserText,
      promptCharacters: this.#saidCharacters + instructions.length,
      images: 0,
      tools: [],
      toolChoice: "none",
      toolResult: undefined,
      schema: undefined,
      maxTokens: count(cap),
      thinks: false,
      remembers: false,
    };
  }

  #event(type: string, fields: JsonObject): RealtimeEvent {
    return { type, event_id: this.#nextId("event"), ...fields };
  }

  #error(cause: unknown, param: string | null, message: string, code: string | null = null): RealtimeEvent {
    const event_id = text(member(cause, "event_id")) ?? null;
    return this.#event("error", { error: { type: "invalid_request_error", code, message, param, event_id } });
  }

  #nextId(kind: string): string {
    this.#serial += 1;
    return `${kind}_demo${this.#serial}`;
  }
}

function outputPlace({ response_id, output_index }: { response_id: string; output_index: number }): object {
  return { response_id, output_index };
}

function usageOf(textTokens: number, audioTokens: number, outputTokens: number): object {
  const inputTokens = textTokens + audioTokens;
  return {
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    input_token_details: {
      text_tokens: textTokens,
      audio_tokens: audioTokens,
      image_tokens: 0,
      cached_tokens: 0,
      cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: outputTokens, audio_tokens: 0 },
  };
}
