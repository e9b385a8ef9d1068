/**
 * What Google refuses of generateContent: the pages "Function calling", "Combine built-in tools and function calling",
 * "Thought signatures" and the reference of `Schema`.
 */
import { either, isObject, type JsonObject, list, member, text } from "#examples/demo-upstream/json-view";
import { signatureMark } from "#test/support/clients/formats/generate-content";
import { firstOf, type Rule } from "./rule.ts";

/** The stand-in that the documentation gives for calls which no signature came with. */
const signatureStandIns = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

function declarationsOf(body: JsonObject): unknown[] {
  return list(body["tools"]).flatMap((tool) => list(either(tool, "functionDeclarations", "function_declarations")));
}

const searchBesideFunctions: Rule = (body, model) => {
  const hasSearch = list(body["tools"]).some((tool) => either(tool, "googleSearch", "google_search") !== undefined);
  if (!hasSearch || declarationsOf(body).length === 0) return undefined;
  if (!model.startsWith("gemini-3")) {
    return "Built-in tools ({google_search}) and Function Calling cannot be combined in the same request. Please choose one.";
  }
  const config = either(body, "toolConfig", "tool_config");
  const isIncluded =
    either(config, "includeServerSideToolInvocations", "include_server_side_tool_invocations") === true;
  return isIncluded
    ? undefined
    : "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.";
};

const functionNames: Rule = (body) =>
  firstOf(declarationsOf(body), (declaration, index) =>
    /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(text(member(declaration, "name")) ?? "")
      ? undefined
      : `GenerateContentRequest.tools[0].function_declarations[${index}].name: Invalid function name.`,
  );

const schemaWords = new Set(
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum additionalProperties ref defs".split(
    " ",
  ),
);

/** `parameters` is the OpenAPI subset; `parametersJsonSchema` takes the rest. */
const schemas: Rule = (body) =>
  firstOf(declarationsOf(body), (declaration, index) =>
    refuseSchema(member(declaration, "parameters"), `tools[0].function_declarations[${index}].parameters`),
  );

function refuseSchema(schema: unknown, path: string): string | undefined {
  if (!isObject(schema)) return undefined;
  const unknown = Object.keys(schema).find((word) => !schemaWords.has(word));
  if (unknown !== undefined) {
    return `Invalid JSON payload received. Unknown name "${unknown}" at '${path}': Cannot find field.`;
  }
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return (
    firstOf(Object.entries(properties), ([name, child]) => refuseSchema(child, `${path}.properties[${name}]`)) ??
    refuseSchema(schema["items"], `${path}.items`) ??
    firstOf(list(schema["anyOf"]), (child, index) => refuseSchema(child, `${path}.any_of[${index}]`))
  );
}

function partsWith(content: unknown, ...names: readonly string[]): unknown[] {
  return list(member(content, "parts")).filter((part) => either(part, ...names) !== undefined);
}

const resultsOfCalls: Rule = (body) => {
  const contents = list(body["contents"]);
  return firstOf(contents, (content, index) => {
    const calls = partsWith(content, "functionCall", "function_call").length;
    const results = partsWith(contents[index + 1], "functionResponse", "function_response").length;
    return calls === 0 || calls === results
      ? undefined
      : "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
  });
};

/** Gemini 3 wants the first call of each step of the turn under way signed. */
const signatures: Rule = (body, model) => {
  if (!model.startsWith("gemini-3")) return undefined;
  const contents = list(body["contents"]);
  const lastQuestion = contents.findLastIndex(
    (content) => member(content, "role") === "user" && partsWith(content, "text").length > 0,
  );
  return firstOf(contents.slice(lastQuestion + 1), (content) => {
    const [call] = partsWith(content, "functionCall", "function_call");
    if (call === undefined) return undefined;
    const signature = text(either(call, "thoughtSignature", "thought_signature"));
    if (signature === undefined) return "Function call is missing a thought_signature in functionCall parts.";
    return isOwnSignature(signature) || signatureStandIns.includes(signature)
      ? undefined
      : "Thought signature is not valid";
  });
};

function isOwnSignature(signature: string): boolean {
  return Buffer.from(signature, "base64").toString("latin1").startsWith(signatureMark);
}

const emptyContents: Rule = (body) =>
  firstOf(list(body["contents"]), (content) =>
    list(member(content, "parts")).length > 0
      ? undefined
      : "GenerateContentRequest.contents: contents.parts must not be empty.",
  );

export const generateContentRules: readonly Rule[] = [
  emptyContents,
  searchBesideFunctions,
  functionNames,
  schemas,
  resultsOfCalls,
  signatures,
];
