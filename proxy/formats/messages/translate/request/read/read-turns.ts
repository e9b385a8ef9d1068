/**
 * Reads system text and messages of a messages client as neutral turns (docs/design/messages.md 3).
 */
import { asList, type JsonObject } from "#proxy/json/json-value";
import type { Part, Turn } from "#proxy/neutral/conversation";
import { withoutAttribution } from "./attribution.ts";
import { readContent } from "./read-content.ts";
import { readTexts } from "./read-text.ts";
import { objectAt, refuseValue } from "./refusals.ts";

/** @throws GatewayError for unknown roles and blocks */
export function readTurns(body: JsonObject): Turn[] {
  const system = body["system"] ?? "";
  const turns = system === "" ? [] : readSystem(system, "system");
  for (const [index, message] of asList(body["messages"]).entries()) {
    const where = `messages.${index}`;
    for (const turn of readMessage(objectAt(message, where), where)) turns.push(turn);
  }
  return turns;
}

function readSystem(content: unknown, where: string): Turn[] {
  const parts = withoutAttribution(readTexts(content, where));
  return parts.length === 0 ? [] : [{ role: "system", parts }];
}

function readMessage(message: JsonObject, where: string): Turn[] {
  const role = message["role"];
  const content = message["content"] ?? [];
  if (role === "system") return readSystem(content, `${where}.content`);
  if (role !== "user" && role !== "assistant") {
    return refuseValue(`${where}.role`, "must be 'user', 'assistant' or 'system'");
  }
  const parts = readContent(content, `${where}.content`);
  const misplaced = parts.find(({ kind }) => !isAtHome(kind, role));
  if (misplaced !== undefined) refuseValue(misplaced.where ?? where, `is not allowed in a message of the ${role}`);
  return role === "assistant" ? [{ role, parts }] : splitResults(parts);
}

/** Results are a turn of their own, before whatever else the user says with them. */
function splitResults(parts: readonly Part[]): Turn[] {
  const results = parts.filter(({ kind }) => kind === "result");
  if (results.length === 0) return [{ role: "user", parts }];
  const others = parts.filter(({ kind }) => kind !== "result");
  const tool: Turn = { role: "tool", parts: results };
  return others.length === 0 ? [tool] : [tool, { role: "user", parts: others }];
}

function isAtHome(kind: Part["kind"], role: "user" | "assistant"): boolean {
  if (kind === "result") return role === "user";
  if (kind === "call" || kind === "reasoning") return role === "assistant";
  return true;
}
