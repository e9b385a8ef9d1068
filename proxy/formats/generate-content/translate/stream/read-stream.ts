/**
 * Reads frames of streamGenerateContent (docs/design/generate-content.md 5): each frame is a whole reply whose parts
 * are only what is new. There is no terminator: the filter knows when the body ended well, and then calls `end`.
 */
import { blockReasonOf } from "#proxy/formats/generate-content/native/block-reason";
import { mergeUsage, readUsage } from "#proxy/formats/generate-content/native/read-usage";
import type { StreamReader, WireEvent } from "#proxy/formats/translator";
import { holdsLongNumbers, parseJsonText } from "#proxy/json/json-text";
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { type Finish, InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import { CandidateReader } from "./read-candidate.ts";

const candidatesMax = 128;
/** Every frame that is a reply has one of them. */
const frameMembers = ["candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"];

export class GenerateContentStreamReader implements StreamReader {
  #events: ReplyEvent[] = [];
  readonly #candidates: CandidateReader[] = [];
  #usage: JsonObject | undefined;
  #hasStarted = false;
  #hasEmittedUsage = false;
  #isEnded = false;
  /** The prompt itself was refused. */
  #blocked: Finish | undefined;

  read(event: WireEvent): readonly ReplyEvent[] {
    // A marker that relays add for other formats' clients.
    if (event.data === "[DONE]") return [];
    let frame: unknown;
    try {
      frame = event.json === undefined || holdsLongNumbers(event.data) ? parseJsonText(event.data) : event.json;
    } catch {
      throw new InvalidReply("a frame is not JSON");
    }
    if (!isObject(frame)) throw new InvalidReply("a frame is not an object");
    this.readFrame(frame);
    return this.#consumeEvents();
  }

  /** @throws InvalidReply when a candidate never said why it ended: it was cut */
  end(): readonly ReplyEvent[] {
    const isWhole = this.#candidates.length > 0 && this.#candidates.every(({ hasFinish }) => hasFinish);
    if (!this.#blocked && !isWhole) {
      throw new InvalidReply("the reply ended before it was complete");
    }
    this.finish();
    return this.#consumeEvents();
  }

  /** Reads one frame, or a whole reply. */
  readFrame(frame: JsonObject): void {
    if (this.#isEnded) throw new InvalidReply("a frame came after the end");
    if (!frameMembers.some((name) => frame[name] !== undefined)) throw new InvalidReply("a frame has no known member");
    this.#start(frame);
    this.#usage = laterUsage(this.#usage, frame["usageMetadata"]);
    if (!this.#hasEmittedUsage) this.#emitUsage();
    if (blockReasonOf(frame) !== undefined) {
      const message = member(frame["promptFeedback"], "blockReasonMessage");
      const explanation = typeof message === "string" && message !== "" ? { explanation: message } : {};
      this.#blocked = { reason: "content-filter", isPromptBlocked: true, ...explanation };
    }
    for (const [place, candidate] of asList(frame["candidates"]).entries()) {
      if (isObject(candidate)) this.#candidate(candidate["index"] ?? place).read(candidate);
    }
  }

  /**
   * Tells everything that waited for the end.
   *
   * @throws InvalidReply where there is no candidate and nothing says why: as a stream it is an error too
   * (docs/design/translation.md 9.3)
   */
  finish(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#candidates.length === 0) {
      if (this.#blocked === undefined) throw new InvalidReply("the reply has no candidate");
      this.#events.push({ type: "finish", candidate: 0, finish: this.#blocked });
    }
    for (const candidate of this.#candidates) candidate.end(this.#blocked ?? { reason: "stop" });
    this.#emitUsage();
    this.#events.push({ type: "end" });
  }

  /** Events since the last call. */
  takeEvents(): readonly ReplyEvent[] {
    return this.#consumeEvents();
  }

  #consumeEvents(): readonly ReplyEvent[] {
    if (this.#events.length === 0) return [];
    return this.#events.splice(0);
  }

  #start(frame: JsonObject): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const { responseId, modelVersion } = frame;
    const tier = member(frame["usageMetadata"], "serviceTier");
    this.#events.push({
      type: "start",
      id: typeof responseId === "string" ? responseId : undefined,
      model: typeof modelVersion === "string" ? modelVersion : undefined,
      ...(typeof tier === "string" ? { serviceTier: tier === "standard" ? "default" : tier } : {}),
    });
  }

  /** Numbers grow from frame to frame: the first tells the prompt's size early, the last is right. */
  #emitUsage(): void {
    const usage = readUsage(this.#usage);
    if (usage === undefined) return;
    this.#hasEmittedUsage = true;
    this.#events.push({ type: "usage", usage });
  }

  #candidate(index: unknown): CandidateReader {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= candidatesMax) {
      throw new InvalidReply("a candidate has an invalid index");
    }
    while (this.#candidates.length <= index) {
      this.#candidates.push(new CandidateReader(this.#candidates.length, this.#events));
    }
    const candidate = this.#candidates[index];
    if (candidate === undefined) throw new InvalidReply("a candidate has an invalid index");
    return candidate;
  }
}

/** Nearly every frame repeats all counts of the one before: then it stands for both, and nothing is copied. */
function laterUsage(known: JsonObject | undefined, later: unknown): JsonObject | undefined {
  if (!isObject(later)) return known;
  if (known === undefined) return later;
  for (const name in known) if ((later[name] ?? undefined) === undefined) return mergeUsage(known, later);
  return later;
}
