/** Writes the output format that the client asked for (docs/design/translation.md 7.1). */
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation, OutputFormat, Turn } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { completeSchema, hasRefusedRoot } from "#proxy/neutral/schema/complete-schema";
import { hasObjectRoot, wrapInObject, wrappedMember } from "#proxy/neutral/schema/object-root";
import { isStrictSchema, strictFlag } from "#proxy/neutral/schema/strict-schema";
import type { ChatTraits } from "#proxy/neutral/traits/chat-traits";
import { noMembers } from "./no-members.ts";

export interface WrittenFormat {
  /** Members of the body. */
  readonly members: JsonObject;
  /** System text that says the same, for models that must be told. */
  readonly instructions: readonly Turn[];
  /** The output comes inside this member. */
  readonly unwrapMember?: string | undefined;
}

const anyFormat: WrittenFormat = { members: noMembers, instructions: [] };

export function writeOutputFormat(conversation: Conversation, traits: ChatTraits, losses: Losses): WrittenFormat {
  const format = conversation.outputFormat;
  if (format === undefined) return anyFormat;
  if (format.kind === "json") return writeJson(mentionsJson(conversation) ? [] : [askForJson]);
  const asked = format.kind === "enum" ? ofEnum(format.values) : format;
  // OpenAI accepts only an object as output; JSON mode has none either. A bare word of an enum needs a member as well.
  const isPlain = hasObjectRoot(asked.schema) && !(traits.checksLikeOpenAI && hasRefusedRoot(asked.schema));
  const isObject = isPlain || (traits.takesSchema && !traits.isOpenAI && format.kind === "schema");
  const whole = isObject ? asked.schema : wrapInObject(asked.schema);
  const schema = traits.takesSchema && (isPlain || !isObject) ? completeSchema(whole) : whole;
  const unwrapMember = isObject ? undefined : wrappedMember;
  if (!traits.takesSchema) return { ...writeJson([`${askForSchema}\n${JSON.stringify(schema)}`]), unwrapMember };
  const { description, where } = asked;
  const lose = (): void => losses.drop(`${where ?? "response_format"}.strict`);
  const jsonSchema = {
    name: schemaName(asked.name),
    ...(description === undefined ? {} : { description }),
    schema,
    strict: strictFlag(asked.strict, schema, lose) ?? isStrictSchema(schema),
  };
  return {
    members: { response_format: { type: "json_schema", json_schema: jsonSchema } },
    instructions: [],
    unwrapMember,
  };
}

const askForJson = "Respond with one JSON object and nothing else.";
const askForSchema = "Respond with one JSON object and nothing else. It must be valid against this JSON Schema:";

function writeJson(texts: readonly string[]): WrittenFormat {
  return {
    members: { response_format: { type: "json_object" } },
    instructions: texts.map((text) => ({ role: "system", parts: [{ kind: "text", text }] })),
  };
}

/** OpenAI refuses JSON mode with 400 when no message says the word. */
function mentionsJson({ turns }: Conversation): boolean {
  return turns.some(({ parts }) => parts.some((part) => part.kind === "text" && /json/i.test(part.text)));
}

function ofEnum(values: readonly string[]): Extract<OutputFormat, { kind: "schema" }> {
  return { kind: "schema", schema: { type: "string", enum: values } };
}

function schemaName(name: string | undefined): string {
  const fitted = (name ?? "").replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return fitted === "" ? "response" : fitted;
}
