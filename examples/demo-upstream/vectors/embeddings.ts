/** `POST /v1/embeddings`: the vectors of texts or of token lists. */
import { writeError } from "#examples/demo-upstream/chat-completions";
import { type DemoEndpoint, jsonReply } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { choice, wholeNumber } from "#examples/demo-upstream/http/read-option";
import { usualDimensions, vectorOfText, vectorOfTokens } from "./text-vector.ts";

/** As OpenAI's. */
const inputsMax = 2048;
const dimensionsMax = 4096;
/** Of all vectors together: a reply is made in memory. */
const numbersMax = 2 ** 20;

type Input = string | readonly number[];

export const embeddings: DemoEndpoint = {
  path: /^\/v1\/embeddings$/,
  keyHeader: "bearer",
  writeError,
  reply: ({ body, model }) => {
    if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
    const inputs = readInputs(body["input"]);
    const dimensions = wholeNumber(body, "dimensions", 1, dimensionsMax) ?? usualDimensions;
    if (inputs.length * dimensions > numbersMax)
      throw new BadRequest(
        "input",
        `Invalid 'input': at most ${Math.floor(numbersMax / dimensions)} of ${dimensions}.`,
      );
    const isBase64 = choice(body, "encoding_format", ["float", "base64"], "float") === "base64";
    const tokens = inputs.reduce((sum, input) => sum + countTokens(input), 0);
    return jsonReply({
      object: "list",
      model,
      data: inputs.map((input, index) => {
        const vector = typeof input === "string" ? vectorOfText(input, dimensions) : vectorOfTokens(input, dimensions);
        return { object: "embedding", index, embedding: isBase64 ? toBase64(vector) : Array.from(vector) };
      }),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
  },
};

function readInputs(given: unknown): readonly Input[] {
  const inputs = typeof given === "string" || isTokens(given) ? [given] : given;
  if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > inputsMax || !inputs.every(isInput))
    throw new BadRequest(
      "input",
      `Invalid 'input': give a text, a list of token numbers, or a list of 1 to ${inputsMax} of either; none empty.`,
    );
  return inputs;
}

function isInput(value: unknown): value is Input {
  return (typeof value === "string" && value !== "") || isTokens(value);
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isInteger(one) && one >= 0);
}

function countTokens(input: Input): number {
  return typeof input === "string" ? Math.ceil(input.length / 4) : input.length;
}

/** Little-endian floats of four bytes each, as the SDKs decode them. */
function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}
