/** Describes what every call of a model has, whichever endpoint serves it: what the stages of the pipeline decide by. */
import type { ScannedObject } from "#proxy/json/strict-json";
import type { CallPath } from "#proxy/neutral/wire";

/** A client's call of a model, read strictly. Each endpoint adds what it reads. */
export interface ModelCall {
  readonly endpoint: CallPath;
  /** Public model name as the client wrote it (Gemini-style: from the path). */
  readonly model: string;
  readonly stream: boolean;
  /** Undefined for a call that is no JSON object. */
  readonly body?: ScannedObject | undefined;
  /** Paths of members that refer to objects of the upstream account (files, stored responses, caches ...). */
  readonly upstreamObjects: readonly string[];
}
