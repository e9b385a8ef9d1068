import assert from "node:assert/strict";
import fc from "fast-check";
import type { Limit } from "#proxy/snapshot/types.gen";
import { isCIDR, validateObject } from "#proxy/snapshot/validate";
import {
  fullKey,
  sha256Of,
  wireAccount,
  wireChannel,
  wireCredential,
  wireKey,
  wireRoute,
} from "#test/support/wire-objects";

const limit: Limit = {
  name: "quota",
  unit: "Tokens",
  limit: "1000",
  period: "Day",
  algorithm: "FixedWindow",
  mode: "Enforce",
};
const fleet = {
  kind: "fleet",
  name: "fleet",
  requireAccount: false,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 4096,
  revocation: "Finish",
  egressAllowCIDRs: ["10.0.0.0/8"],
};

describe("validateObject()", () => {
  for (const object of [
    fullKey(1),
    wireAccount("one"),
    wireChannel("main"),
    wireCredential("main"),
    wireChannel("main", {
      formats: [
        { type: "Passthrough", path: "/a" },
        { type: "Passthrough", path: "/b" },
      ],
    }),
    wireRoute("small"),
    fleet,
  ]) {
    it(`accepts a ${object.kind}`, () => assert.equal(validateObject(object).problem, undefined));
  }

  for (const row of [
    { name: "a value that is no object", value: null, path: "" },
    { name: "an array", value: [], path: "" },
    { name: "an unknown kind", value: { kind: "policy" }, path: "/kind" },
    { name: "an inherited name as kind", value: { kind: "constructor" }, path: "/kind" },
    { name: "an unknown field", value: { ...wireKey("one"), colour: "red" }, path: "" },
    { name: "an unknown enum value", value: { ...wireKey("one"), state: "Sleeping" }, path: "/state" },
    { name: "a missing field", value: { kind: "key", namespace: "a", name: "b", state: "Active" }, path: "" },
    { name: "a name that is none", value: wireKey("Not_A_Name"), path: "/name" },
    {
      name: "two credentials of one digest",
      value: wireKey("one", {
        credentials: [
          { name: "a", sha256: sha256Of("x") },
          { name: "b", sha256: sha256Of("x") },
        ],
      }),
      path: "/credentials/1",
    },
    {
      name: "two credentials of one name",
      value: wireKey("one", {
        credentials: [
          { name: "a", sha256: sha256Of("x") },
          { name: "a", sha256: sha256Of("y") },
        ],
      }),
      path: "/credentials/1",
    },
    {
      name: "a network that is none",
      value: wireKey("one", { cidrsAllow: ["10.0.0.0/8", "10.0.0.0/33"] }),
      path: "/cidrsAllow/1",
    },
    { name: "a star inside a pattern", value: wireKey("one", { modelsDeny: ["a*b"] }), path: "/modelsDeny/0" },
    { name: "two stars in a pattern", value: wireKey("one", { modelsAllow: ["*a*"] }), path: "/modelsAllow/0" },
    {
      name: "an amount of 2^63",
      value: wireKey("one", { limits: [{ ...limit, limit: "9223372036854775808" }] }),
      path: "/limits/0/limit",
    },
    {
      name: "a time zone that does not exist",
      value: wireKey("one", { limits: [{ ...limit, timeZone: "Mars/Olympus" }] }),
      path: "/limits/0/timeZone",
    },
    {
      name: "a time zone for a lifetime",
      value: wireKey("one", { limits: [{ ...limit, period: "Lifetime", timeZone: "UTC" }] }),
      path: "/limits/0/timeZone",
    },
    {
      name: "a token bucket by the day",
      value: wireKey("one", { limits: [{ ...limit, algorithm: "TokenBucket" }] }),
      path: "/limits/0/algorithm",
    },
    {
      name: "a burst without a bucket",
      value: wireKey("one", { limits: [{ ...limit, burst: "5" }] }),
      path: "/limits/0/burst",
    },
    { name: "two limits of one name", value: wireKey("one", { limits: [limit, limit] }), path: "/limits/1" },
    { name: "credit of 2^63", value: wireAccount("one", { creditNanos: "9999999999999999999" }), path: "/creditNanos" },
    {
      name: "a base address that no URL can be",
      value: wireChannel("main", { baseURL: "https://[::zz]/v1" }),
      path: "/baseURL",
    },
    {
      name: "one format twice",
      value: wireChannel("main", {
        formats: [
          { type: "Messages", path: "/a" },
          { type: "Messages", path: "/b" },
        ],
      }),
      path: "/formats/1",
    },
    {
      name: "one path passed through twice",
      value: wireChannel("main", {
        formats: [
          { type: "Passthrough", path: "/a" },
          { type: "Passthrough", path: "/a" },
        ],
      }),
      path: "/formats/1",
    },
    { name: "a secret with a line feed", value: wireCredential("main", "main", "a\nb"), path: "/secret" },
    {
      name: "a header value with a line feed",
      value: wireChannel("main", { headersSet: [{ name: "x-a", value: "b\r\nc: d" }] }),
      path: "/headersSet/0/value",
    },
    {
      name: "a selector without its values",
      value: wireRoute("small", {
        keySelector: { namespaces: ["*"], matchExpressions: [{ key: "a", operator: "In" }] },
      }),
      path: "/keySelector/matchExpressions/0/values",
    },
    {
      name: "a range upside down",
      value: wireRoute("small", { parameters: [{ name: "temperature", minimum: 2, maximum: 1 }] }),
      path: "/parameters/0/minimum",
    },
    {
      name: "a price of 2^63",
      value: wireRoute("small", { price: { input: "9223372036854775808" } }),
      path: "/price/input",
    },
    {
      name: "a price of an image of 2^63",
      value: wireRoute("small", { price: { images: [{ price: "9223372036854775808" }] } }),
      path: "/price/images/0/price",
    },
    { name: "a fleet with a bad network", value: { ...fleet, egressAllowCIDRs: ["all"] }, path: "/egressAllowCIDRs/0" },
  ]) {
    it(`refuses ${row.name}`, () => assert.equal(validateObject(row.value).problem?.path, row.path));
  }

  it("refuses an object under an id that is not its own", () => {
    assert.equal(validateObject(wireKey("one"), "key/team-a/one").problem, undefined);
    assert.notEqual(validateObject(wireKey("one"), "key/team-b/one").problem, undefined);
  });

  it("accepts the largest amount", () => {
    assert.equal(
      validateObject(wireKey("one", { limits: [{ ...limit, limit: "9223372036854775807" }] })).problem,
      undefined,
    );
  });

  it("never repeats a value in its message", () => {
    const secret = "canary\nvalue";
    const problem = validateObject(wireCredential("main", "main", secret)).problem;
    assert.ok(problem !== undefined && !problem.message.includes("canary"));
  });

  it("gives a verdict on anything and throws on nothing", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => void validateObject(value)),
      { numRuns: 500 },
    );
    const mutated = fc.tuple(fc.constantFrom(...Object.keys(fullKey(1))), fc.jsonValue());
    fc.assert(
      fc.property(mutated, ([member, value]) => void validateObject({ ...fullKey(1), [member]: value })),
      { numRuns: 1_000 },
    );
  });
});

describe("isCIDR()", () => {
  for (const row of [
    { text: "10.0.0.0/8", is: true },
    { text: "0.0.0.0/0", is: true },
    { text: "2001:db8::/32", is: true },
    { text: "::/0", is: true },
    { text: "10.0.0.0", is: false },
    { text: "10.0.0.0/", is: false },
    { text: "10.0.0.0/08", is: false },
    { text: "010.0.0.0/8", is: false },
    { text: "10.1/16", is: false },
    { text: "0x0a.0.0.0/8", is: false },
    { text: "10.0.0.0/-1", is: false },
    { text: "fe80::1%eth0/64", is: false },
    { text: "2001:db8::/129", is: false },
    { text: "::ffff:10.0.0.0/104", is: false },
    { text: "::ffff:0a00:0/104", is: false },
    { text: "", is: false },
  ]) {
    it(`${row.is ? "accepts" : "refuses"} "${row.text}"`, () => assert.equal(isCIDR(row.text), row.is));
  }
});
