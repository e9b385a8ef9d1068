/** Writes responses of the image endpoints, whole or in events, of replies in another form (docs/design/images.md 3). */
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";
import { encodeEvent } from "#proxy/sse/encoder";

/** A reply whose pictures have been read. */
export interface MadeImages {
  /** As `data[]` has them: `b64_json` or `url`, and what stands beside. */
  readonly pictures: readonly JsonObject[];
  /** `size`, `quality`, `background` and `output_format`, as far as they are known. */
  readonly traits: JsonObject;
  readonly createdSeconds: number;
  /** As the interface writes it; undefined where it is not known. */
  readonly usage: unknown;
}

export function writeImages({ pictures, traits, createdSeconds, usage }: MadeImages): Buffer {
  const told = usage === undefined ? {} : { usage };
  return Buffer.from(JSON.stringify({ created: createdSeconds, ...traits, data: pictures, ...told }));
}

/**
 * One event for each picture: nothing has been shown before. Usage stands in the last of them, so that who adds it up
 * counts it once.
 * @param prefix `image_generation` or `image_edit`
 */
export function writeImageEvents(made: MadeImages, prefix: string): readonly Buffer[] {
  const { pictures, traits, createdSeconds, usage } = made;
  const type = `${prefix}.completed`;
  return pictures.map((picture, index) => {
    const told = index === pictures.length - 1 ? usage : undefined;
    const event = { type, ...picture, created_at: createdSeconds, ...traits, usage: told ?? noUsage };
    return encodeEvent(type, JSON.stringify(event));
  });
}

const noUsage = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
};

/** Usage as the interface writes it. */
export function writeUsage(usage: TokenUsage): JsonObject {
  const [input, output] = [inputTokens(usage), outputTokens(usage)];
  return {
    input_tokens: input,
    input_tokens_details: { image_tokens: usage.imageInput, text_tokens: input - usage.imageInput },
    output_tokens: output,
    output_tokens_details: { image_tokens: usage.imageOutput, text_tokens: output - usage.imageOutput },
    total_tokens: input + output,
  };
}

const traitNames = ["size", "quality", "background", "output_format"];

/** What a reply or an event tells of its pictures besides them. */
export function traitsOf(value: JsonObject): JsonObject {
  return Object.fromEntries(traitNames.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]]));
}

/** The members of a picture that stand in `data[]`. */
export function pictureOf(value: unknown): JsonObject {
  if (!isObject(value)) return {};
  const names = ["b64_json", "url", "revised_prompt"];
  return Object.fromEntries(names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]]));
}
