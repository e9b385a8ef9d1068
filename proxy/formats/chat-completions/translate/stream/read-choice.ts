/**
 * Reads the deltas of one choice: which part is open, and where one part ends and the next begins. A whole message is
 * read as one delta.
 */

import { hasProduced } from "#proxy/formats/chat-completions/native/produced-text";
import { readAnnotations } from "#proxy/formats/chat-completions/translate/reply/citations";
import { heldReason, readFinish } from "#proxy/formats/chat-completions/translate/reply/finish-reason";
import { readLogprobs } from "#proxy/formats/chat-completions/translate/reply/logprobs";
import { joinedBase64, readAudio, readImage, readImages } from "#proxy/formats/chat-completions/translate/reply/media";
import {
  detailedText,
  detailsIn,
  ReasoningDetails,
} from "#proxy/formats/chat-completions/translate/reply/reasoning-details";
import { ReasoningText } from "#proxy/formats/chat-completions/translate/reply/reasoning-text";
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import {
  type Citation,
  InvalidReply,
  type MediaBlock,
  type OpenedBlock,
  type ReplyEvent,
  type TokenLogprob,
} from "#proxy/neutral/reply";
import { CallsReader } from "./read-calls.ts";

/** A text of the choice: where it stands in the whole content, which offsets of annotations count, in UTF-16 units. */
interface ReadText {
  readonly kind: "text";
  readonly part: number;
  readonly offset: number;
  length: number;
}

type OpenText = ReadText | { readonly kind: "refusal" | "reasoning"; readonly part: number };

/** A list of sources is repeated with every chunk; more than this nobody can read. */
const sourcesMax = 1_000;

export class ChoiceReader {
  readonly #candidate: number;
  readonly #emit: (event: ReplyEvent) => void;
  // Made on first need, for most replies are one text.
  #calls: CallsReader | undefined;
  #sources: Set<string> | undefined;
  #audio: { readonly data: string[]; transcript: string } | undefined;
  #details: ReasoningDetails | undefined;
  readonly #thinking = new ReasoningText();
  #parts = 0;
  #open: OpenText | undefined;
  /** Sources may come behind the end of the text that they are of. */
  readonly #texts: ReadText[] = [];
  #contentLength = 0;
  /** What came of a text before it: sources, and tokens that are no character yet. */
  readonly #waiting: Citation[] = [];
  readonly #waitingTokens: TokenLogprob[] = [];
  #native: string | undefined;
  #finishedId: string | undefined;
  #hasRefusal = false;
  #isBody = false;

  constructor(candidate: number, emit: (event: ReplyEvent) => void) {
    this.#candidate = candidate;
    this.#emit = emit;
  }

  /**
   * @param id of the chunk: once finished, a reply of another id is another reply
   * @param isBody the choice of a whole body, with a `message` in place of a `delta`
   * @throws InvalidReply for arguments beyond their bound, and for a second reply spliced behind the first
   */
  read(choice: JsonObject, id: string, isBody: boolean): void {
    if (this.#finishedId !== undefined && id !== this.#finishedId && hasProduced({ choices: [choice] })) {
      throw new InvalidReply("a second reply follows the first one");
    }
    this.#isBody = isBody;
    const delta = choice["delta"] ?? choice["message"];
    this.#readDelta(isObject(delta) ? delta : {}, choice["logprobs"]);
    const finish = choice["finish_reason"];
    if (typeof finish !== "string" || finish === "") return;
    this.#native = heldReason(this.#native, finish);
    this.#finishedId = id;
  }

  /** @param logprobs of the content: what follows that closes its text */
  #readDelta(delta: JsonObject, logprobs: unknown): void {
    const details = detailsIn(delta);
    const thinking = this.#thinking.read(delta);
    this.#emitText("reasoning", details === undefined ? thinking : thinking || detailedText(delta, details));
    if (details !== undefined) {
      this.#details ??= new ReasoningDetails();
      this.#details.read(delta, details, this.#isBody);
    }
    this.#readContent(delta["content"]);
    if (logprobs !== null && logprobs !== undefined) this.#readLogprobs(logprobs);
    const refusal = asText(delta["refusal"]);
    if (refusal !== "") this.#hasRefusal = true;
    this.#emitText("refusal", refusal);
    if (delta["annotations"] !== undefined)
      for (const citation of readAnnotations(delta["annotations"])) this.#cite(citation);
    if (delta["images"] !== undefined) for (const image of readImages(delta["images"])) this.#show(image);
    if (isObject(delta["audio"])) this.#addAudio(delta["audio"]);
    if (delta["tool_calls"] !== undefined) this.#readCalls(asList(delta["tool_calls"]));
    if (isObject(delta["function_call"])) {
      this.#endText();
      this.#callsReader().read({ index: "legacy", function: delta["function_call"] });
    }
  }

  /** A text; or parts of Mistral and others, thinking among them, in their order. */
  #readContent(content: unknown): void {
    if (typeof content === "string") {
      this.#emitText("text", content);
      return;
    }
    for (const part of asList(content)) {
      const type = member(part, "type");
      if (type === "thinking") {
        const thought = member(part, "thinking");
        this.#emitText("reasoning", asText(thought));
        for (const piece of asList(thought)) this.#emitText("reasoning", asText(member(piece, "text")));
      } else if (type === "text" || type === "output_text") {
        this.#emitText("text", asText(member(part, "text")));
      } else if (type === "refusal") {
        this.#hasRefusal = true;
        this.#emitText("refusal", asText(member(part, "refusal")));
      } else if (type === "image_url") {
        const image = readImage(part);
        if (image !== undefined) this.#show(image);
      }
    }
  }

  /** Empty text never opens or closes anything: vendors send it between the pieces of a call. */
  #emitText(kind: OpenText["kind"], text: string): void {
    if (text === "") return;
    if (this.#open?.kind !== kind) {
      this.#endText();
      this.#calls?.closeComplete();
      this.#open = this.#openText(kind);
    }
    if (this.#open.kind === "text" && this.#waitingTokens.length > 0) this.#emitTokens(this.#open.part, []);
    this.#emit({ type: "delta", candidate: this.#candidate, part: this.#open.part, text });
    if (this.#open.kind !== "text") return;
    this.#open.length += text.length;
    this.#contentLength += text.length;
    if (this.#waiting.length === 0) return;
    for (const citation of this.#waiting.splice(0)) this.#cite(citation);
  }

  #openText(kind: OpenText["kind"]): OpenText {
    const part = this.#openPart({ kind });
    if (kind !== "text") return { kind, part };
    const text: ReadText = { kind, part, offset: this.#contentLength, length: 0 };
    this.#texts.push(text);
    return text;
  }

  #openPart(block: OpenedBlock): number {
    // They were of this, which has none.
    if (block.kind !== "text") this.#waitingTokens.length = 0;
    const part = this.#parts;
    this.#parts += 1;
    this.#emit({ type: "open", candidate: this.#candidate, part, block });
    return part;
  }

  /** State of thinking goes with its text, or behind other text in a part of its own. Lists with state say the text too. */
  #endText(): void {
    const text = this.#open?.kind === "reasoning" ? this.#thinking.consume() : undefined;
    const state = this.#details?.consume() ?? text;
    const open = this.#open;
    this.#open = undefined;
    if (state !== undefined && open?.kind === "reasoning") {
      this.#emit({ type: "state", candidate: this.#candidate, part: open.part, state });
    }
    if (open !== undefined) this.#emit({ type: "close", candidate: this.#candidate, part: open.part });
    if (state === undefined || open?.kind === "reasoning") return;
    const part = this.#openPart({ kind: "reasoning" });
    this.#emit({ type: "state", candidate: this.#candidate, part, state });
    this.#emit({ type: "close", candidate: this.#candidate, part });
  }

  #cite(citation: Citation): void {
    const text = textAt(this.#texts, citation.start);
    const isWhole = this.#isBody || text !== this.#open;
    // Of a text that is still to come.
    const isAhead = !this.#isBody && isWhole && (citation.start ?? 0) >= (text?.offset ?? 0) + (text?.length ?? 0);
    if (text === undefined || (citation.start !== undefined && isAhead)) this.#waiting.push(citation);
    else this.#citeIn(text, citation, isWhole);
  }

  #citeIn(text: ReadText, citation: Citation, isWhole: boolean): void {
    const placed = within(text, citation, isWhole);
    this.#emit({ type: "citation", candidate: this.#candidate, part: text.part, citation: placed });
  }

  /** Sources beside the choices, of which each counts once. */
  addSources(citations: readonly Citation[]): void {
    this.#sources ??= new Set();
    for (const citation of citations) {
      if (this.#sources.has(citation.url) || this.#sources.size >= sourcesMax) continue;
      this.#sources.add(citation.url);
      this.#cite(citation);
    }
  }

  #show(block: MediaBlock): void {
    this.#endText();
    this.#calls?.closeComplete();
    const part = this.#openPart(block);
    this.#emit({ type: "close", candidate: this.#candidate, part });
  }

  /** Audio streams in pieces that decode on their own. */
  #addAudio(audio: JsonObject): void {
    this.#audio ??= { data: [], transcript: "" };
    const data = asText(audio["data"]);
    if (data !== "") this.#audio.data.push(data);
    this.#audio.transcript += asText(audio["transcript"]);
  }

  #readCalls(pieces: readonly unknown[]): void {
    for (const [position, piece] of pieces.entries()) {
      if (!isObject(piece)) continue;
      this.#endText();
      // In a whole message each entry is a call of its own, whatever index or id it has.
      this.#callsReader().read(this.#isBody ? { ...piece, index: position } : piece);
    }
  }

  #callsReader(): CallsReader {
    this.#calls ??= new CallsReader(this.#candidate, this.#emit, (block) => this.#openPart(block));
    return this.#calls;
  }

  #readLogprobs(logprobs: unknown): void {
    const tokens = readLogprobs(logprobs);
    if (tokens.length === 0) return;
    if (this.#open?.kind === "text") this.#emitTokens(this.#open.part, tokens);
    // A character may be several tokens, of which the first says nothing yet.
    else if (this.#open === undefined && this.#parts === 0) this.#waitingTokens.push(...tokens);
  }

  #emitTokens(part: number, later: readonly TokenLogprob[]): void {
    const tokens = [...this.#waitingTokens.splice(0), ...later];
    this.#emit({ type: "logprobs", candidate: this.#candidate, part, tokens });
  }

  /** Closes what is open and says why the choice ended. @throws InvalidReply when it never did, or its calls are broken */
  finish(): void {
    if (this.#native === undefined && !this.#isBody) throw new InvalidReply("a choice never finished");
    const hasCalls = this.#calls?.hasCalls === true;
    const finish = readFinish(this.#native, { hasCalls, hasRefusal: this.#hasRefusal });
    this.#placeWaiting();
    this.#endText();
    this.#finishAudio();
    this.#calls?.closeAll(finish.reason === "length" || finish.reason === "content-filter");
    this.#emit({ type: "finish", candidate: this.#candidate, finish });
  }

  /** Sources of a reply without any text stand in an empty one of their own, those of none that came at the last one. */
  #placeWaiting(): void {
    if (this.#waiting.length === 0) return;
    if (this.#texts.length === 0) {
      this.#endText();
      this.#open = this.#openText("text");
    }
    const last = this.#texts.at(-1);
    if (last === undefined) return;
    for (const { start, end, ...source } of this.#waiting.splice(0)) this.#citeIn(last, source, true);
  }

  #finishAudio(): void {
    if (this.#audio === undefined) return;
    const { data, transcript } = this.#audio;
    if (data.length === 0) return;
    const audio = readAudio({ data: joinedBase64(data), transcript });
    if (audio !== undefined) this.#show(audio);
  }
}

/** The text in which a place of the whole content is; the last one when there is no place. */
function textAt(texts: readonly ReadText[], start: number | undefined): ReadText | undefined {
  if (start === undefined) return texts.at(-1);
  let [first, behind] = [0, texts.length];
  while (behind - first > 1) {
    const middle = (first + behind) >> 1;
    if ((texts[middle]?.offset ?? 0) <= start) first = middle;
    else behind = middle;
  }
  return texts[first];
}

/**
 * The source with offsets into the text itself. One of a text that is closed already is for this text as a whole.
 * @param isWhole the text does not grow any more: what is cited of the next one is left out
 */
function within({ offset, length }: ReadText, { start, end, ...source }: Citation, isWhole: boolean): Citation {
  if (start === undefined || end === undefined || end <= offset) return source;
  const last = isWhole && start < offset + length ? length : Number.POSITIVE_INFINITY;
  return { ...source, start: Math.max(0, start - offset), end: Math.min(end - offset, last) };
}
