/** Step 0 of the digest: the bytes of a reply as one JSON value or as the events of a stream. */

export interface ReplyEvent {
  readonly name: string | undefined;
  readonly json: unknown;
}

export interface ParsedReply {
  readonly events: readonly ReplyEvent[] | undefined;
  readonly body: unknown;
  readonly hasDone: boolean;
}

const fields = new Set(["event", "data", "id", "retry"]);

/** @throws when the bytes are not UTF-8 or an event's data is not JSON */
export function parseReply(bytes: Buffer): ParsedReply {
  const decoded = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (!/^\s*(?:data|event|id|retry|):/.test(decoded)) {
    return { events: undefined, body: JSON.parse(decoded), hasDone: false };
  }
  const reader = new LineReader();
  for (const line of decoded.split(/\r\n|\n|\r/)) reader.read(line);
  return reader.finish();
}

class LineReader {
  readonly #events: ReplyEvent[] = [];
  #name: string | undefined;
  #data: string[] = [];
  #stray: string[] = [];
  #hasDone = false;

  read(line: string): void {
    if (line === "") {
      this.#dispatch();
      return;
    }
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    if (!fields.has(field)) {
      this.#stray.push(line);
      return;
    }
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#name = value;
    if (field === "data") this.#data.push(value);
  }

  #dispatch(): void {
    if (this.#data.length > 0) {
      const data = this.#data.join("\n");
      if (data === "[DONE]") this.#hasDone = true;
      else this.#events.push({ name: this.#name, json: JSON.parse(data) });
    }
    this.#data = [];
    this.#name = undefined;
  }

  finish(): ParsedReply {
    this.#dispatch();
    if (this.#stray.length > 0) this.#events.push({ name: undefined, json: JSON.parse(this.#stray.join("\n")) });
    return { events: this.#events, body: undefined, hasDone: this.#hasDone };
  }
}
