/** Keys that must not make a call, each for another reason, and the tests that they do not: the same at every endpoint. */
import assert from "node:assert/strict";
import { it } from "mocha";
import { at } from "#test/support/digest/facts";
import type { FakeUpstream } from "#test/support/fake-upstream";
import type { HttpAnswer } from "./http-call.ts";
import { keyManifest } from "./manifests.ts";

const rate = { name: "rate", unit: "Requests", limit: "1", period: "Minute" };
const ceiling = { name: "quota", unit: "Cost", limit: "0.000001", period: "Lifetime" };

const keys = [
  { name: "is for chat alone", spec: { capabilities: ["Chat"] }, status: 403 },
  { name: "is for another model", spec: { models: { allow: ["another"] } }, status: 403 },
  { name: "is for another protocol", spec: { protocols: ["Anthropic"] }, status: 403 },
  { name: "is for other addresses", spec: { clientCIDRs: { allow: ["10.0.0.0/8"] } }, status: 403 },
  { name: "is suspended", spec: { state: "Suspended" }, status: 401 },
  { name: "has a ceiling that the call does not fit", spec: { limits: [ceiling] }, code: "insufficient_quota" },
] as const;

function keyName(name: string): string {
  return name.replaceAll(" ", "-");
}

/** Objects for the manifests of the gateway. */
export const restrictedKeyManifests: readonly object[] = [
  ...keys.map(({ name, spec }) => keyManifest(keyName(name), spec)),
  keyManifest("slow", { limits: [rate] }),
];

/**
 * @param call makes a call with the key of a name, on a route with a price for it
 * @param upstream replies well
 */
export function itRefusesRestrictedKeys(
  call: (key: string) => Promise<HttpAnswer>,
  upstream: () => FakeUpstream,
): void {
  for (const row of keys) {
    it(`refuses a key that ${row.name}, and calls no upstream`, async () => {
      upstream().forget();
      const answer = await call(keyName(row.name));
      if ("status" in row) assert.equal(answer.status, row.status, answer.body.toString());
      else assert.equal(at(answer.json(), "error", "code"), row.code);
      assert.equal(upstream().requests.length, 0);
    });
  }

  it("holds a key to its rate", async () => {
    upstream().forget();
    assert.equal((await call("slow")).status, 200);
    assert.equal((await call("slow")).status, 429);
    assert.equal(upstream().requests.length, 1);
  });
}
