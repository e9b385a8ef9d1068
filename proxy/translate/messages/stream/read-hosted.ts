/**
 * What the provider's own tools did in an answer: searches, code, remote servers, and block types that nobody knows yet
 * (pitfall 41). A use and its result are two blocks upstream and one part here, told when the result is there.
 */
import { asText, isObject, type JsonObject, member } from "../../../protocols/json-value.ts";
import { argumentsObject } from "../../json-text.ts";
import type { HostedBlock, ReplyEvent } from "../../reply.ts";
import { close, type Numbering, open, type StartedBlock } from "./block-events.ts";

interface Use {
  readonly id: string;
  readonly block: HostedBlock;
}

export class HostedReader {
  readonly #numbering: Numbering;
  /** A use whose result may be the next block. */
  #waiting: Use | undefined;

  constructor(numbering: Numbering) {
    this.#numbering = numbering;
  }

  /** Starts any block that is no text, thinking or call of the client's. */
  start(block: JsonObject): StartedBlock {
    const type = asText(block["type"]);
    if (type === "server_tool_use" || type === "mcp_tool_use") return this.#startUse(block, type);
    const resultOf = asText(block["tool_use_id"]);
    if (resultOf === "" || resultOf !== this.#waiting?.id) {
      return { events: [...this.flush(), ...this.#whole({ kind: "hosted", tool: toolOf(type), type })], reader: mute };
    }
    const output = outputOf(block["content"]);
    const use = this.#waiting.block;
    this.#waiting = undefined;
    return { events: this.#whole(output === "" ? use : { ...use, output }), reader: mute };
  }

  /** Tells a use that got no result. Called before every other block and at the end. */
  flush(): readonly ReplyEvent[] {
    if (this.#waiting === undefined) return [];
    const { block } = this.#waiting;
    this.#waiting = undefined;
    return this.#whole(block);
  }

  #startUse(block: JsonObject, blockType: string): StartedBlock {
    const events = this.flush();
    const type = asText(block["name"]) || blockType;
    let joined = "";
    return {
      events,
      reader: {
        read(piece) {
          joined += asText(piece["partial_json"]);
          return [];
        },
        stop: () => {
          const input = joined === "" ? block["input"] : argumentsObject(joined);
          const code = asText(member(input, "code")) || asText(member(input, "command"));
          const tool = blockType === "server_tool_use" ? toolOf(type) : "other";
          this.#waiting = {
            id: asText(block["id"]),
            block: { kind: "hosted", tool, type, ...(code === "" ? {} : { code }) },
          };
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

/** What a program printed. */
function outputOf(content: unknown): string {
  return isObject(content) ? asText(content["stdout"]) + asText(content["stderr"]) : "";
}
