/** The strict JSON scanner in short: what it reads, what it refuses, whether it agrees with `JSON.parse`. */
import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { readJson, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";

export const options = { depthMax: 64, keysMax: 50_000 };

export function scan(text: string | Buffer, watch?: readonly string[]): ScannedObject {
  return scanJsonObject(Buffer.from(text), watch === undefined ? options : { ...options, watch });
}

/** What the scanner says against the bytes: undefined when it takes them. */
export function refusal(bytes: Buffer | string): string | undefined {
  try {
    scanJsonObject(Buffer.from(bytes), options);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GatewayError, `not a GatewayError: ${String(error)}`);
    assert.equal(error.code, "invalid_json");
    return error.message;
  }
}

export function assertReadsAs(body: ScannedObject, value: unknown): void {
  assert.ok(typeof value === "object" && value !== null);
  const expected = new Map(Object.entries(value));
  assert.deepEqual(new Set(body.members.map((member) => member.name)), new Set(expected.keys()));
  for (const member of body.members) {
    assert.deepEqual(readJson(body, member), expected.get(member.name));
    assert.equal(body.member(member.name), member);
  }
}
