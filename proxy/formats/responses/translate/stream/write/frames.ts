/** Writes frames of a responses stream: both lines of each event, numbered over the whole stream without a gap. */

export class Frames {
  /** Finished items by their index: the output of the final response. */
  readonly output: unknown[] = [];
  #sequence = 0;
  #text = "";
  #items = 0;

  /** @param sequence of the next event, behind what the client was told before */
  countFrom(sequence: number): void {
    this.#sequence = sequence;
  }

  /** @param members JSON members of the event behind its type and number, without braces */
  emit(type: string, members = ""): void {
    const number = `"sequence_number":${this.#sequence}`;
    const rest = members === "" ? "" : `,${members}`;
    this.#text += `event: ${type}\ndata: {"type":"${type}",${number}${rest}}\n\n`;
    this.#sequence += 1;
  }

  /** Something of the output has been announced. */
  get hasItems(): boolean {
    return this.#items > 0;
  }

  /** Announces an item. @returns its index */
  added(item: object): number {
    const index = this.#items;
    this.#items += 1;
    this.emit("response.output_item.added", `"output_index":${index},"item":${JSON.stringify(item)}`);
    return index;
  }

  done(index: number, item: object): void {
    this.output[index] = item;
    this.emit("response.output_item.done", `"output_index":${index},"item":${JSON.stringify(item)}`);
  }

  consume(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** Members that say which item an event is about. */
export function itemMembers(id: string, index: number): string {
  return `"item_id":${JSON.stringify(id)},"output_index":${index}`;
}
