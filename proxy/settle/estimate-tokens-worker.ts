/** The tokenizer's thread: one text in, its number of tokens out. */
import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { CountReply, CountRequest } from "./estimate-tokens.ts";

/**
 * The tokenizer takes quadratic time in the length of a word, so hundreds of thousands of letters without a space
 * would take it minutes, and Chinese without punctuation is such a word. Counted in slices, each cut adds a token at
 * most: one in two hundred of usual text.
 */
const sliceCharacters = 500;

parentPort?.on("message", ({ id, text }: CountRequest) => {
  let tokens = 0;
  for (let at = 0; at < text.length; at += sliceCharacters) {
    // Words such as <|endoftext|> in a reply are plain text here, not commands to the tokenizer.
    tokens += countTokens(text.slice(at, at + sliceCharacters), { disallowedSpecial: new Set() });
  }
  parentPort?.postMessage({ id, tokens } satisfies CountReply);
});
