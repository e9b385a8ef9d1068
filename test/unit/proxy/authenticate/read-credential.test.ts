import assert from "node:assert/strict";
import fc from "fast-check";
import { readCredential } from "#proxy/authenticate/read-credential";
import { GatewayError } from "#proxy/errors";
import type { Protocol } from "#proxy/neutral/wire";

const protocols: readonly Protocol[] = ["OpenAI", "Anthropic", "Gemini"];

/** The key read, or the code of the refusal. */
function describeCredential(protocol: Protocol, headers: readonly string[], url = "/v1/x"): string {
  try {
    return readCredential(protocol, headers, url);
  } catch (error) {
    assert.ok(error instanceof GatewayError, `not a GatewayError: ${String(error)}`);
    return error.code;
  }
}

describe("readCredential", () => {
  const places: { name: string; headers: string[]; url?: string; allowed: readonly Protocol[] }[] = [
    { name: "Authorization: Bearer", headers: ["Authorization", "Bearer sk-a"], allowed: protocols },
    { name: "x-api-key", headers: ["x-api-key", "sk-a"], allowed: ["Anthropic"] },
    { name: "x-goog-api-key", headers: ["x-goog-api-key", "sk-a"], allowed: ["Gemini"] },
    { name: "x-vendorc-api-key", headers: ["x-vendorc-api-key", "sk-a"], allowed: ["Gemini"] },
    { name: "?key=", headers: [], url: "/v1beta/models?key=sk-a", allowed: ["Gemini"] },
  ];
  for (const { name, headers, url, allowed } of places) {
    for (const protocol of protocols) {
      const isAllowed = allowed.includes(protocol);
      it(`${isAllowed ? "takes" : "does not see"} a key in ${name} for ${protocol}`, () => {
        assert.equal(describeCredential(protocol, headers, url), isAllowed ? "sk-a" : "missing_credential");
      });
    }
  }

  const authorizations: [value: string, want: string][] = [
    ["Bearer sk-a", "sk-a"],
    ["Bearer sk-A9._~+/=-", "sk-A9._~+/=-"],
    [`Bearer sk-${"a".repeat(509)}`, `sk-${"a".repeat(509)}`],
    ...[
      "",
      "Bearer",
      "Bearer ",
      "Bearersk-a",
      "Bearer  sk-a",
      "Bearer\tsk-a",
      "Bearer\u00a0sk-a",
      "Bearer sk-a ",
      "Bearer sk-a\t",
      " Bearer sk-a",
      "bearer sk-a",
      "BEARER sk-a",
      "Basic sk-a",
      "Basic c2stYQ==",
      "Token sk-a",
      "sk-a",
      "Bearer Bearer sk-a",
      "Bearer sk-a,sk-b",
      "Bearer sk-a, Bearer sk-a",
      'Bearer "sk-a"',
      "Bearer 'sk-a'",
      "Bearer sk%2Da",
      "Bearer c2stYQ==",
      "Bearer sk-a\u0000",
      "Bearer sk-a\u007f",
      "Bearer sk-\u00e9",
      "Bearer s\u043a-a",
      "Bearer SK-a",
      "Bearer pk-a",
      "Bearer sk-",
      `Bearer sk-${"a".repeat(10_240)}`,
    ].map((value): [string, string] => [value, "malformed_credential"]),
  ];
  for (const [value, want] of authorizations) {
    it(`reads Authorization ${JSON.stringify(value.slice(0, 40))} as ${want.slice(0, 40)}`, () => {
      assert.equal(describeCredential("OpenAI", ["Authorization", value]), want);
    });
  }

  const rows: { name: string; protocol: Protocol; headers: string[]; url?: string; want: string }[] = [
    { name: "no key", protocol: "OpenAI", headers: [], want: "missing_credential" },
    {
      name: "two equal Authorization",
      protocol: "OpenAI",
      headers: ["authorization", "Bearer sk-a", "AUTHORIZATION", "Bearer sk-a"],
      want: "sk-a",
    },
    {
      name: "a good and a bad Authorization",
      protocol: "OpenAI",
      headers: ["authorization", "Bearer sk-a", "authorization", "Bearer sk-b"],
      want: "ambiguous_credential",
    },
    {
      name: "a good Authorization and one without Bearer",
      protocol: "OpenAI",
      headers: ["authorization", "Bearer sk-a", "authorization", "sk-a"],
      want: "malformed_credential",
    },
    {
      name: "two x-api-key that differ",
      protocol: "Anthropic",
      headers: ["x-api-key", "sk-a", "x-api-key", "sk-b"],
      want: "ambiguous_credential",
    },
    {
      name: "two x-api-key already joined",
      protocol: "Anthropic",
      headers: ["x-api-key", "sk-a, sk-a"],
      want: "malformed_credential",
    },
    {
      name: "x-api-key and Bearer that agree",
      protocol: "Anthropic",
      headers: ["x-api-key", "sk-a", "authorization", "Bearer sk-a"],
      want: "sk-a",
    },
    {
      name: "x-api-key and Bearer that differ",
      protocol: "Anthropic",
      headers: ["x-api-key", "sk-a", "authorization", "Bearer sk-b"],
      want: "ambiguous_credential",
    },
    {
      name: "a good x-api-key beside a Basic Authorization",
      protocol: "Anthropic",
      headers: ["x-api-key", "sk-a", "authorization", "Basic x"],
      want: "malformed_credential",
    },
    {
      name: "an empty x-api-key beside a Bearer",
      protocol: "Anthropic",
      headers: ["x-api-key", "", "authorization", "Bearer sk-a"],
      want: "malformed_credential",
    },
    {
      name: "x-api-key beside Bearer where only Bearer counts",
      protocol: "OpenAI",
      headers: ["x-api-key", "sk-b", "authorization", "Bearer sk-a"],
      want: "sk-a",
    },
    {
      name: "header and query that differ",
      protocol: "Gemini",
      headers: ["x-goog-api-key", "sk-a"],
      url: "/v1beta/models?key=sk-b",
      want: "ambiguous_credential",
    },
    {
      name: "both spellings of the header that differ",
      protocol: "Gemini",
      headers: ["x-goog-api-key", "sk-a", "x-vendorc-api-key", "sk-b"],
      want: "ambiguous_credential",
    },
    {
      name: "three places that agree",
      protocol: "Gemini",
      headers: ["x-goog-api-key", "sk-a", "authorization", "Bearer sk-a"],
      url: "/x?alt=sse&key=sk-a",
      want: "sk-a",
    },
    {
      name: "three places of which one differs",
      protocol: "Gemini",
      headers: ["x-goog-api-key", "sk-a", "authorization", "Bearer sk-a"],
      url: "/x?key=sk-A",
      want: "ambiguous_credential",
    },
    {
      name: "a repeated query key",
      protocol: "Gemini",
      headers: [],
      url: "/x?key=sk-a&key=sk-b",
      want: "ambiguous_credential",
    },
    { name: "an empty query key", protocol: "Gemini", headers: [], url: "/x?key=", want: "malformed_credential" },
    {
      name: "an escaped query key",
      protocol: "Gemini",
      headers: [],
      url: "/x?key=sk%2Da",
      want: "malformed_credential",
    },
    ...["key[]=sk-a", "key%5B%5D=sk-a", "api_key=sk-a", "Key=sk-a", "%6bey=sk-a", "x-goog-api-key=sk-a"].map(
      (query) => ({
        name: `?${query}`,
        protocol: "Gemini" as const,
        headers: [],
        url: `/x?${query}`,
        want: "missing_credential",
      }),
    ),
    ...[
      "Proxy-Authorization",
      "Cookie",
      "x_api_key",
      "X_Api_Key",
      "api-key",
      "Sec-WebSocket-Protocol",
      "x-api-key2",
    ].flatMap((name) =>
      protocols.map((protocol) => ({
        name: `${name} for ${protocol}`,
        protocol,
        headers: [name, "Bearer sk-a", name, "sk-a"],
        want: "missing_credential",
      })),
    ),
  ];
  for (const { name, protocol, headers, url, want } of rows) {
    it(`answers ${name} with ${want}`, () => assert.equal(describeCredential(protocol, headers, url), want));
  }

  it("names the expected form and never repeats what was sent", () => {
    for (const protocol of protocols) {
      for (const headers of [[], ["authorization", "bearer sk-canary"]]) {
        assert.throws(
          () => readCredential(protocol, headers, "/"),
          (error) =>
            error instanceof GatewayError &&
            error.message.includes("'Authorization: Bearer <API_KEY>'") &&
            !error.message.includes("canary"),
        );
      }
    }
  });

  it("agrees with a plain reference on random placements", () => {
    const key = fc.constantFrom("sk-a", "sk-a", "sk-a", "sk-b", "sk-A", "bad");
    const place = fc.tuple(
      fc.constantFrom(
        "Authorization",
        "AUTHORIZATION",
        "X-Api-Key",
        "x-goog-api-key",
        "X-VendorC-Api-Key",
        "?",
        "x_api_key",
      ),
      fc.constantFrom("Bearer ", "Bearer ", "", "bearer ", "Bearer  "),
      key,
    );
    fc.assert(
      fc.property(fc.constantFrom(...protocols), fc.array(place, { maxLength: 4 }), (protocol, given) => {
        const headers: string[] = [];
        const query: string[] = [];
        const seen: string[] = [];
        for (const [name, prefix, value] of given) {
          const lower = name.toLowerCase();
          const isAuthorization = lower === "authorization";
          const text = isAuthorization ? prefix + value : value;
          if (name === "?") query.push(`key=${value}`);
          else headers.push(name, text);
          const counts =
            isAuthorization ||
            (protocol === "Anthropic" && lower === "x-api-key") ||
            (protocol === "Gemini" && ["?", "x-goog-api-key", "x-vendorc-api-key"].includes(lower));
          if (counts) seen.push(isAuthorization ? text : `Bearer ${text}`);
        }
        const url = query.length === 0 ? "/x" : `/x?${query.join("&")}`;
        const isGood = seen.length > 0 && seen.every((one) => one === seen[0] && /^Bearer sk-[aAb]$/.test(one));
        const described = describeCredential(protocol, headers, url);
        if (isGood) assert.equal(`Bearer ${described}`, seen[0]);
        else if (seen.length === 0) assert.equal(described, "missing_credential");
        else assert.match(described, /^(malformed|ambiguous)_credential$/);
      }),
      { numRuns: 100_000 },
    );
  }).timeout(20_000);
});
