/**
 * Writes the output format (docs/design/translation.md 7.1): the model's own schemas where it has them and they can
 * express the schema, else a tool whose arguments are the output; JSON without a schema is asked for in words.
 */

import type { ReplyAdaptation } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { OutputFormat } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { describedSchema } from "#proxy/neutral/schema/described-schema";
import { hasObjectRoot, wrapInObject, wrappedMember } from "#proxy/neutral/schema/object-root";
import type { ClaudeTraits } from "#proxy/neutral/traits/claude-models";
import { closeSchema } from "./closed-schema.ts";

export interface WrittenFormat {
  /** For `output_config.format`. */
  readonly format?: JsonObject;
  /** A tool that must be called instead of plain output. */
  readonly outputTool?: { readonly name: string; readonly schema: JsonObject; readonly description: string };
  /** Words for the end of the system text. */
  readonly instruction?: string;
  readonly adaptation: Pick<ReplyAdaptation, "outputTool" | "unwrapMember" | "isFencedJson">;
}

/**
 * @param taken names of the client's own tools, as the upstream gets them
 * @param losses told where the model is only asked to keep to a schema that the client wants kept
 */
export function writeFormat(
  wanted: OutputFormat | undefined,
  { keepsSchemas, takesForcedTools }: Pick<ClaudeTraits, "keepsSchemas" | "takesForcedTools">,
  usedNames: ReadonlySet<string>,
  losses: Losses,
): WrittenFormat {
  if (wanted === undefined) return { adaptation: {} };
  if (wanted.kind === "json") {
    return { instruction: "Respond with one JSON object and nothing else.", adaptation: { isFencedJson: true } };
  }
  const { schema, unwrapMember } = objectSchema(wanted);
  const unwrap = unwrapMember === undefined ? {} : { unwrapMember };
  const told = wanted.kind === "schema" ? wanted.description : undefined;
  const closed = keepsSchemas ? closeSchema(describedSchema(schema, told)) : undefined;
  if (closed !== undefined) return { format: { type: "json_schema", schema: closed }, adaptation: unwrap };
  // A tool that need not be called gives no output.
  if (!takesForcedTools) {
    if (wanted.kind === "schema" && wanted.strict === true) losses.drop(`${wanted.where ?? "response_format"}.strict`);
    const instruction = `${askForSchema}\n${JSON.stringify(describedSchema(schema, told))}`;
    return { instruction, adaptation: { isFencedJson: true, ...unwrap } };
  }
  const name = freeName(usedNames);
  const description = told === undefined ? "Return the final answer." : `Return the final answer: ${told}`;
  return { outputTool: { name, schema, description }, adaptation: { outputTool: name, ...unwrap } };
}

const askForSchema = "Respond with one JSON object and nothing else. It must be valid against this JSON Schema:";

/** The output as an object, which is all that can be asked for. */
function objectSchema(wanted: Exclude<OutputFormat, { kind: "json" }>): {
  readonly schema: JsonObject;
  readonly unwrapMember?: string;
} {
  if (wanted.kind === "enum") {
    return { schema: wrapInObject({ type: "string", enum: wanted.values }), unwrapMember: wrappedMember };
  }
  if (hasObjectRoot(wanted.schema)) return { schema: wanted.schema };
  return { schema: wrapInObject(wanted.schema), unwrapMember: wrappedMember };
}

function freeName(usedNames: ReadonlySet<string>): string {
  let name = "gw_json";
  while (usedNames.has(name)) name += "_";
  return name;
}
