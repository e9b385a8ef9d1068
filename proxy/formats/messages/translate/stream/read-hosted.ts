/**
 * Reads what the provider's own tools did in a reply: searches, code, remote servers, and block types that nobody knows
 * yet (pitfall 41). A use and its result are two blocks upstream and one part here, emitted when the result is there.
 */

import { argumentsObject } from "#proxy/json/json-text";
import { asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { HostedBlock, ReplyEvent } from "#proxy/neutral/reply";
import { close, type Numbering, open, type StartedBlock } from "./block-events.ts";

/** Far more than any provider runs at once. */
const waitingMax = 64;

export class HostedReader {
  readonly #numbering: Numbering;
  /** Uses by their ids whose results may come: several may run at once. */
  readonly #waiting = new Map<string, HostedBlock>();

  constructor(numbering: Numbering) {
    this.#numbering = numbering;
  }

  /** Starts any block that is no text, thinking or call of the client's. */
  start(block: JsonObject): StartedBlock {
    const type = asText(block["type"]);
    if (type === "server_tool_use" || type === "mcp_tool_use") return this.#startUse(block, type);
    const resultOf = asText(block["tool_use_id"]);
    const use = this.#waiting.get(resultOf);
    if (use === undefined) {
      return { events: [...this.flush(), ...this.#whole({ kind: "hosted", tool: toolOf(type), type })], reader: mute };
    }
    this.#waiting.delete(resultOf);
    return { events: this.#whole({ ...use, ...resultMembers(use, block["content"]) }), reader: mute };
  }

  /** Tells uses that got no result. Called before every other block and at the end. */
  flush(): readonly ReplyEvent[] {
    if (this.#waiting.size === 0) return [];
    const uses = [...this.#waiting.values()];
    this.#waiting.clear();
    return uses.flatMap((use) => this.#whole(use));
  }

  #startUse(block: JsonObject, blockType: string): StartedBlock {
    const type = asText(block["name"]) || blockType;
    let joined = "";
    return {
      events: this.#waiting.size < waitingMax ? [] : this.flush(),
      reader: {
        read(piece) {
          joined += asText(piece["partial_json"]);
          return [];
        },
        stop: () => {
          const input = joined === "" ? block["input"] : argumentsObject(joined);
          const code =
            asText(member(input, "code")) || (type.startsWith("bash") ? asText(member(input, "command")) : "");
          const tool = blockType === "server_tool_use" ? toolOf(type) : "other";
          const query = tool === "web-search" ? asText(member(input, "query")) : "";
          this.#waiting.set(asText(block["id"]) || `${this.#waiting.size}`, {
            kind: "hosted",
            tool,
            type,
            ...(code === "" ? {} : { code }),
            ...(query === "" ? {} : { queries: [query] }),
          });
          return [];
        },
      },
    };
  }

  #whole(block: HostedBlock): readonly ReplyEvent[] {
    const part = this.#numbering.next();
    return [open(part, block), close(part)];
  }
}

/** The part of such a block was told at its start. */
const mute: StartedBlock["reader"] = { read: () => [], stop: () => [] };

function toolOf(type: string): HostedBlock["tool"] {
  if (type.startsWith("web_search")) return "web-search";
  return type.includes("code_execution") ? "code" : "other";
}

/** What came of a use: what a program printed, what a search found, or that it failed. */
function resultMembers({ tool }: HostedBlock, content: unknown): Partial<HostedBlock> {
  if (tool !== "web-search") {
    const output = outputOf(content);
    return output === "" ? {} : { output };
  }
  if (!Array.isArray(content)) return asText(member(content, "error_code")) === "" ? {} : { hasFailed: true };
  const sources = content.flatMap((found) => {
    const url = asText(member(found, "url"));
    return url === "" ? [] : [{ url, title: asText(member(found, "title")) || undefined }];
  });
  return sources.length === 0 ? {} : { sources };
}

/** What a program printed. */
function outputOf(content: unknown): string {
  return isObject(content) ? asText(content["stdout"]) + asText(content["stderr"]) : "";
}
