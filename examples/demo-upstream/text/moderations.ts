/** `POST /v1/moderations`: flags what holds one of a few words. */
import { writeError } from "#examples/demo-upstream/chat-completions";
import { type DemoEndpoint, jsonReply } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { list, member, text } from "#examples/demo-upstream/json-view";

/** Every category of OpenAI's, with the words that this upstream flags. */
const words: Readonly<Record<string, RegExp | undefined>> = {
  harassment: /\b(idiot|stupid)\b/i,
  "harassment/threatening": /\bI will hurt you\b/i,
  hate: /\bhate\b/i,
  "hate/threatening": undefined,
  illicit: /\b(steal|drugs)\b/i,
  "illicit/violent": /\bbomb\b/i,
  "self-harm": /\bhurt myself\b/i,
  "self-harm/intent": /\bI want to hurt myself\b/i,
  "self-harm/instructions": undefined,
  sexual: undefined,
  "sexual/minors": undefined,
  violence: /\b(kill|attack)\b/i,
  "violence/graphic": undefined,
};
const flaggedScore = 0.98;
const cleanScore = 0.0001;

interface Input {
  readonly text: string;
  readonly kinds: readonly string[];
}

export const moderations: DemoEndpoint = {
  path: /^\/v1\/moderations$/,
  keyHeader: "bearer",
  writeError,
  reply: ({ body, model, serial }) =>
    jsonReply({
      id: `modr-demo${serial}`,
      model: model ?? "omni-moderation-latest",
      results: readInputs(body["input"]).map(moderate),
    }),
};

/** A result for each text; parts with text and images are one input together. */
function readInputs(given: unknown): readonly Input[] {
  if (typeof given === "string") return [{ text: given, kinds: ["text"] }];
  const entries = list(given);
  if (entries.length > 0 && entries.every((entry) => typeof entry === "string"))
    return entries.map((entry) => ({ text: entry, kinds: ["text"] }));
  const kinds = entries.map((entry) => (member(entry, "type") === "image_url" ? "image" : "text"));
  const texts = entries.map((entry) => text(member(entry, "text")) ?? "");
  if (
    entries.length === 0 ||
    !entries.every((entry) => ["text", "image_url"].includes(text(member(entry, "type")) ?? ""))
  )
    throw new BadRequest("input", "Invalid 'input': give a text, a list of texts, or parts of type text or image_url.");
  return [{ text: texts.join("\n"), kinds: [...new Set(kinds)] }];
}

function moderate(input: Input): object {
  const flags = Object.entries(words).map(
    ([category, pattern]) => [category, pattern?.test(input.text) === true] as const,
  );
  return {
    flagged: flags.some(([, isFlagged]) => isFlagged),
    categories: Object.fromEntries(flags),
    category_scores: Object.fromEntries(
      flags.map(([category, isFlagged]) => [category, isFlagged ? flaggedScore : cleanScore]),
    ),
    category_applied_input_types: Object.fromEntries(flags.map(([category]) => [category, input.kinds])),
  };
}
