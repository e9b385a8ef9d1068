/** Describes a call for vectors, in the form of OpenAI's clients or of Google's. */
import type { TextCall } from "#proxy/endpoints/dialects/text-counter";
import type { JsonObject } from "#proxy/json/json-value";
import type { CallPath } from "#proxy/neutral/wire";

/** How a vector stands in a reply: a list of numbers, or the base64 of 32-bit floats, little-endian. */
export type Encoding = "float" | "base64";

/** Google's verbs: of one content, and of several. */
export type EmbeddingVerb = "embedContent" | "batchEmbedContents";

export interface EmbeddingPath extends CallPath {
  readonly format: "Embeddings" | "EmbedContent";
  /** Google-style only: the model of the path, decoded. */
  readonly modelInPath?: string;
  readonly verb?: EmbeddingVerb;
}

export interface EmbeddingCall extends TextCall {
  readonly endpoint: EmbeddingPath;
  /** Vectors that the call asks for; undefined where only the upstream can tell. */
  readonly inputs: number | undefined;
  /** Whether every input is text: other inputs cannot be said in another format. */
  readonly isText: boolean;
  /** Tokens that were sent as numbers. */
  readonly tokenIds: number;
  /** Images, sounds and files among the inputs. */
  readonly attachments: number;
  /** Of the vectors in the client's response, whatever the upstream sends. */
  readonly encoding: Encoding;
  /** False where the client asks for other numbers than floats: those of a reply in its own form pass as they come. */
  readonly asksForFloats: boolean;
  /** Google-style only: the requests of the body, or the body itself. */
  readonly requests: readonly JsonObject[];
}

/** The most inputs of one call: OpenAI's bound, which no other vendor exceeds. */
export const inputsMax = 2_048;
