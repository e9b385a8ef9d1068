/** Describes what was found in a reply: the places of its vectors, none of which is built, and its usage. */
import type { EmbeddingVerb } from "#proxy/endpoints/embeddings/call/embedding-call";
import type { JsonRange } from "#proxy/json/json-cursor";
import type { TokenUsage } from "#proxy/settle/usage";

export interface FoundVector {
  /** Of the input that it belongs to. */
  readonly index: number;
  /** The vector itself. */
  readonly value: JsonRange;
  /** Numbers, base64, or what is neither: a vector for each token, for example. */
  readonly kind: "numbers" | "text" | "other";
  /** The object that holds it, in OpenAI's form. */
  readonly item?: JsonRange;
}

export interface FoundVectors {
  readonly bytes: Buffer;
  /** In the order of the inputs. */
  readonly vectors: readonly FoundVector[];
  /** Undefined where the reply reports none. */
  readonly usage: TokenUsage | undefined;
  /** In OpenAI's form alone. */
  readonly frame?: ListFrame;
  /** The verb whose reply it is, in Google's form alone: the response to a client of that verb. */
  readonly verb?: EmbeddingVerb;
}

/** What surrounds the vectors of a reply in OpenAI's form, of which a response in that form keeps every byte. */
export interface ListFrame {
  /** The list of items. */
  readonly list: JsonRange;
  /** Whether the items stand in the order of the inputs. */
  readonly isOrdered: boolean;
  /** The usage, where it lacks the number of prompt tokens that clients of OpenAI read. */
  readonly incompleteUsage?: JsonRange | undefined;
}

/**
 * Finds vectors without building them. Undefined for a body that is no reply of the upstream's form.
 * @throws SyntaxError for a body that is no JSON
 */
export type FindVectors = (body: Buffer) => FoundVectors | undefined;

/** A count of tokens; undefined for what is none. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
