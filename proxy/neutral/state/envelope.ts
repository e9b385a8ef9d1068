/**
 * Seals a provider's opaque state in an envelope, in which it travels through a client of another format and back
 * (docs/design/translation.md 6.2).
 *
 * An envelope is `tg1.`, the state as base64url JSON, a dot, and a MAC over it by a key that belongs to one channel and
 * one client key: only what this gateway sealed for both is ever sent again. Nothing in it is secret from the client,
 * whose own conversation it is; the MAC keeps others from slipping state in.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { asList, asText, isObject, parseJson } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";

export const envelopeMark = "tg1.";
const macBytes = 16;

/** An envelope is as large as what the provider sent and a third; beyond this nobody made it. */
const envelopeCharactersMax = 8 * 1024 * 1024;

export function isEnvelope(text: string): boolean {
  return text.startsWith(envelopeMark);
}

export function sealEnvelope(states: readonly ProviderState[], key: KeyObject): string {
  const payload = Buffer.from(JSON.stringify(states)).toString("base64url");
  return `${envelopeMark}${payload}.${macOf(payload, key).toString("base64url")}`;
}

/** @returns undefined for what is no envelope of this key */
export function openEnvelope(envelope: string, key: KeyObject): readonly ProviderState[] | undefined {
  if (!isEnvelope(envelope) || envelope.length > envelopeCharactersMax) return undefined;
  const end = envelope.lastIndexOf(".");
  const payload = envelope.slice(envelopeMark.length, end);
  const mac = Buffer.from(envelope.slice(end + 1), "base64url");
  if (mac.length !== macBytes || !timingSafeEqual(mac, macOf(payload, key))) return undefined;
  const states = parseJson(Buffer.from(payload, "base64url").toString("utf8"));
  return asList(states).flatMap((state) => readState(state) ?? []);
}

/** A key object, since a key as bytes is made ready again for each MAC, at five times the cost. */
function macOf(payload: string, key: KeyObject): Buffer {
  return createHmac("sha256", key).update(payload).digest().subarray(0, macBytes);
}

/** Its own MAC vouches for the content; an older version may still have written other members. */
function readState(value: unknown): ProviderState | undefined {
  if (!isObject(value)) return undefined;
  const data = asText(value["data"]);
  switch (value["kind"]) {
    case "thinking":
      return { kind: "thinking", text: asText(value["text"]), signature: asText(value["signature"]) };
    case "redacted-thinking":
    case "thought-signature":
    case "server-tool-part":
      return { kind: value["kind"], data };
    case "reasoning-details":
      return {
        kind: "reasoning-details",
        member: value["member"] === "thinking_blocks" ? "thinking_blocks" : "reasoning_details",
        entries: asList(value["entries"]).filter(isObject),
      };
    case "reasoning-text":
      return {
        kind: "reasoning-text",
        member: value["member"] === "reasoning" ? "reasoning" : "reasoning_content",
        text: asText(value["text"]),
      };
    case "encrypted-reasoning":
      return {
        kind: "encrypted-reasoning",
        id: asText(value["id"]),
        data,
        summary: asList(value["summary"]).map(asText),
      };
    default:
      return undefined;
  }
}
