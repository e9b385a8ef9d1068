/**
 * Every member that a published document gives a request, each in a call of its own: what a client may say, to see
 * what becomes of it elsewhere. Documents are read, never copied.
 */
import { asList, isObject, member, memberAt } from "#proxy/json/json-value";
import { isSet } from "#proxy/neutral/losses/unmapped-members";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { publishedDocument } from "./published-document.ts";
import { whole } from "./whole-call.ts";

const documents: Readonly<Record<ChatWireFormat, { readonly file: string; readonly request: string }>> = {
  ChatCompletions: { file: "openai.pruned.openapi.json", request: "CreateChatCompletionRequest" },
  Responses: { file: "openai.pruned.openapi.json", request: "CreateResponse" },
  Messages: { file: "anthropic.pruned.openapi.json", request: "CreateMessageParams" },
  GenerateContent: { file: "gemini.openapi.json", request: "GenerateContentRequest" },
};

/** One member in a call, and the same call without it. */
export interface PublishedMember {
  /** From the body down; `[]` stands for any item, `<type>` for the kind of object it belongs to. */
  readonly path: string;
  readonly value: unknown;
  readonly withIt: unknown;
  readonly without: unknown;
}

/** Undefined where the document is absent, which a suite must say aloud. */
export function publishedMembers(format: ChatWireFormat): readonly PublishedMember[] | undefined {
  const { file, request } = documents[format];
  const document = publishedDocument(file);
  if (document === undefined) return undefined;
  const walk = new Walk(document);
  const members = walk.members({ $ref: `#/components/schemas/${request}` });
  return members
    .filter(({ value }) => value === false || isSet(value))
    .map((one) => ({
      ...one,
      withIt: whole(format, one.path, one.withIt),
      without: whole(format, one.path, one.without),
    }));
}

type Variant = PublishedMember;

const depthMax = 9;

/** Texts that mean something where they stand. */
const samples: Readonly<Record<string, string>> = {
  url: "https://files.example/picture.png",
  image_url: "https://files.example/picture.png",
  file_url: "https://files.example/paper.pdf",
  fileUri: "https://files.example/picture.png",
  mimeType: "image/png",
  media_type: "image/png",
  data: "iVBORw0KGgo=",
  file_data: "data:application/pdf;base64,JVBERi0=",
  arguments: '{"a":1}',
  id: "call_1",
  call_id: "call_1",
  tool_call_id: "call_1",
  tool_use_id: "call_1",
  name: "lookup",
};

/** What must stand in an object that has such members, which a schema seldom tells. */
const needs: readonly { readonly with: readonly string[]; readonly member: string }[] = [
  ...["file_data", "image_url", "fileUri", "mimeType", "data", "call_id"].map((name) => ({
    with: [name],
    member: name,
  })),
  // Google's functions, calls, results and contents.
  { with: ["name", "parametersJsonSchema"], member: "name" },
  { with: ["name", "args"], member: "name" },
  { with: ["name", "willContinue"], member: "name" },
  { with: ["role", "parts"], member: "parts" },
  { with: ["schema", "strict"], member: "schema" },
];

function neededIn(properties: object): string[] {
  return needs.filter((need) => need.with.every((name) => name in properties)).map((need) => need.member);
}

/** Of Google's parts: what else stands there stands beside one of them. */
const dataOfParts =
  /^(?:text|inlineData|fileData|functionCall|functionResponse|executableCode|codeExecutionResult|tool.*)$/;

function dataBeside(property: string): object {
  if (!/^(?:media|video)/.test(property)) return { text: "sample" };
  return { inlineData: { mimeType: "image/png", data: samples["data"] } };
}

/** Google's enumerations begin with a word for none. */
function isWord(value: unknown): boolean {
  return value !== null && !/UNSPECIFIED/.test(String(value));
}

/** Members whose value is a JSON Schema. */
const schemaMembers =
  /^(?:parameters|parametersJsonSchema|responseJsonSchema|_responseJsonSchema|input_schema|schema)$/;
const jsonSchemaSample = { type: "object", properties: { a: { type: "string" } } };

/** Schemas inside of a call are what it talks about, not what it says: one is like the other. */
const schemaSample = { type: "OBJECT", properties: { a: { type: "STRING" } } };

class Walk {
  readonly #document: unknown;
  /** References that are being walked: what holds itself is walked once. */
  readonly #open = new Set<string>();

  constructor(document: unknown) {
    this.#document = document;
  }

  members(schema: unknown): Variant[] {
    const seen = new Set<string>();
    return this.#variants(schema, "", "", 0).filter(({ path: where, value }) => {
      const key = `${where}=${JSON.stringify(value)}`;
      return !seen.has(key) && seen.add(key);
    });
  }

  #variants(schema: unknown, name: string, where: string, depth: number): Variant[] {
    const reference = String(member(schema, "$ref"));
    if (depth > depthMax || this.#open.has(reference) || isSchema(reference)) return [];
    if (member(schema, "$ref") !== undefined) this.#open.add(reference);
    try {
      return this.#variantsOf(this.#resolve(schema), name, where, depth);
    } finally {
      this.#open.delete(reference);
    }
  }

  #variantsOf(node: unknown, name: string, where: string, depth: number): Variant[] {
    const branches = this.#branches(node);
    if (branches.length > 0) return branches.flatMap((branch) => this.#variants(branch, name, where, depth));
    if (member(node, "type") === "array") {
      const inner = this.#variants(member(node, "items"), name, `${where}[]`, depth);
      return inner.map(({ withIt, without, ...rest }) => ({ ...rest, withIt: [withIt], without: [without] }));
    }
    const properties = member(node, "properties");
    if (!isObject(properties)) return [];
    const kind = memberAt(properties, "type");
    const tag = asList(member(this.#resolve(kind), "enum"))[0] ?? member(this.#resolve(kind), "const");
    const here = typeof tag === "string" ? `${where}<${tag}>` : where;
    const base = this.#minimal(node, name, depth);
    const isPart = "inlineData" in properties && "functionCall" in properties;
    const besides = (property: string): unknown =>
      isPart && !dataOfParts.test(property) ? dataBeside(property) : base;
    return Object.entries(properties).flatMap(([property, inner]) =>
      this.#variantsOfProperty(
        besides(property),
        property,
        inner,
        here === "" ? property : `${here}.${property}`,
        depth,
      ),
    );
  }

  #variantsOfProperty(base: unknown, property: string, schema: unknown, where: string, depth: number): Variant[] {
    if (!isObject(base)) return [];
    const isNeeded = Object.hasOwn(base, property);
    const own = isNeeded
      ? otherwise(base, property, where)
      : this.#values(schema, property, depth + 1).map((value) => ({
          path: where,
          value,
          withIt: { ...base, [property]: value },
          without: base,
        }));
    const inner = this.#variants(schema, property, where, depth + 1).map(({ withIt, without, ...rest }) => ({
      ...rest,
      withIt: { ...base, [property]: withIt },
      without: { ...base, [property]: without },
    }));
    return [...own, ...inner];
  }

  /** One value of each branch; of closed sets each. */
  #values(schema: unknown, name: string, depth: number): unknown[] {
    const node = this.#resolve(schema);
    const branches = this.#branches(node);
    if (branches.length > 0) return branches.flatMap((branch) => this.#values(branch, name, depth));
    const closed = asList(member(node, "enum")).filter((value) => isWord(value) && value !== member(node, "default"));
    if (closed.length > 1) return closed;
    if (member(node, "type") === "boolean") return [member(node, "default") !== true];
    return [this.#minimal(node, name, depth, true)];
  }

  #minimal(schema: unknown, name: string, depth: number, isAsked = false): unknown {
    if (isSchema(String(member(schema, "$ref")))) return schemaSample;
    if (schemaMembers.test(name)) return jsonSchemaSample;
    const node = this.#resolve(schema);
    const [branch] = this.#branches(node);
    if (branch !== undefined) return this.#minimal(branch, name, depth, isAsked);
    if (isObject(node) && "const" in node) return node["const"];
    const [first] = asList(member(node, "enum")).filter(isWord);
    if (first !== undefined) return first;
    switch (member(node, "type")) {
      case "boolean":
        return true;
      case "integer":
        return Math.max(Number(member(node, "minimum") ?? 0), 3);
      case "number":
        return 0.5;
      case "array":
        return depth > depthMax + 3 ? [] : [this.#minimal(member(node, "items"), name, depth + 1)];
      case "string":
        return samples[name] ?? "sample";
      default:
        return this.#minimalObject(node, depth, isAsked);
    }
  }

  /** @param isAsked whether it must say something */
  #minimalObject(node: unknown, depth: number, isAsked: boolean): unknown {
    const properties = member(node, "properties");
    if (!isObject(properties)) return isAsked ? { a: "sample" } : {};
    const required = new Set([...asList(member(node, "required")), ...neededIn(properties)]);
    const names = Object.keys(properties).filter((property) => required.has(property));
    const [first] = Object.keys(properties);
    if (names.length === 0 && isAsked && first !== undefined && depth <= depthMax) names.push(first);
    return Object.fromEntries(
      names.map((property) => [property, this.#minimal(properties[property], property, depth + 1, isAsked)]),
    );
  }

  #branches(node: unknown): unknown[] {
    const branches = asList(member(node, "anyOf") ?? member(node, "oneOf"));
    return branches.filter((branch) => member(this.#resolve(branch), "type") !== "null");
  }

  /** References followed, `allOf` made one. */
  #resolve(schema: unknown): unknown {
    const reference = member(schema, "$ref");
    if (typeof reference === "string") {
      const names = reference.replace("#/", "").split("/");
      const rest = without(schema, "$ref");
      const found = this.#resolve(names.reduce((at, name) => member(at, name), this.#document));
      return isObject(found) ? { ...found, ...rest } : found;
    }
    const all = asList(member(schema, "allOf")).map((part) => this.#resolve(part));
    if (all.length === 0) return schema;
    const rest = without(schema, "allOf");
    const parts = [...all, rest].filter(isObject);
    return {
      ...Object.assign({}, ...parts),
      properties: Object.assign({}, ...parts.map((part) => part["properties"])),
      required: parts.flatMap((part) => asList(part["required"])),
    };
  }
}

/** What must be there in any case says something where another word would have made a difference. */
function otherwise(base: object, property: string, path: string): Variant[] {
  const [, value] = Object.entries(base).find(([name]) => name === property) ?? [];
  if (value !== "sample" || /^(?:role|.*id)$/i.test(property)) return [];
  return [{ path, value: "another", withIt: { ...base, [property]: "another" }, without: base }];
}

function without(schema: unknown, left: string): object {
  return Object.fromEntries(Object.entries(Object(schema)).filter(([name]) => name !== left));
}

function isSchema(reference: string): boolean {
  return reference.endsWith("/Schema");
}
