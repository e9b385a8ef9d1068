/**
 * docs/design/reliability.md B1 to B3 and B5 on the wire: whose address counts, with no, counted and listed trusted
 * proxies.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { chatBody, rawRequest } from "./rig/raw-request.ts";
import { assertNoSecret, errorCode, type Rig, useRig } from "./rig/rig.ts";
import { clientKeys } from "./rig/rig-manifests.ts";

/** Header lines and whether the key for 10.0.0.0/8 (less 10.9.0.0/16) and 2001:db8::/32 is let in. */
type Row = readonly [name: string, headers: readonly string[], isAllowed: boolean];

const alwaysIgnored: readonly Row[] = [
  ["Forwarded", ["Forwarded: for=10.0.0.1"], false],
  ["X-Real-IP", ["X-Real-IP: 10.0.0.1"], false],
  ["True-Client-IP", ["True-Client-IP: 10.0.0.1"], false],
  ["CF-Connecting-IP", ["CF-Connecting-IP: 10.0.0.1"], false],
  ["X-Client-IP", ["X-Client-IP: 10.0.0.1"], false],
  ["X-Cluster-Client-IP", ["X-Cluster-Client-IP: 10.0.0.1"], false],
  ["Fastly-Client-IP", ["Fastly-Client-IP: 10.0.0.1"], false],
  ["Forwarded-For", ["Forwarded-For: 10.0.0.1"], false],
  ["X_Forwarded_For", ["X_Forwarded_For: 10.0.0.1"], false],
  ["X-Originating-IP", ["X-Originating-IP: 10.0.0.1"], false],
];

const forwarded = (value: string): string[] => [`X-Forwarded-For: ${value}`];

const withPort: readonly Row[] = [
  ["pitfall 164: a port", forwarded("10.0.0.1:4711"), true],
  ["pitfall 164: a port of a denied one", forwarded("10.9.0.1:4711"), false],
  ["pitfall 164: a port of a stranger", forwarded("192.0.2.1:4711"), false],
  ["pitfall 164: a forged port left of a stranger", forwarded("10.0.0.1:4711, 192.0.2.1:4711"), false],
  ["pitfall 164: brackets and a port", forwarded("[2001:db8::1]:4711"), true],
  ["pitfall 164: brackets", forwarded("[2001:db8::1]"), true],
  ["pitfall 164: brackets of a stranger", forwarded("[2001:db9::1]:4711"), false],
  ["pitfall 164: v4 mapped in brackets", forwarded("[::ffff:10.0.0.1]:4711"), true],
  ["pitfall 164: v4 mapped in brackets and denied", forwarded("[::ffff:10.9.0.1]:4711"), false],
  ["pitfall 164: v4 in brackets", forwarded("[10.0.0.1]:4711"), false],
  ["pitfall 164: two ports", forwarded("10.0.0.1:80:80"), false],
  ["pitfall 164: a port beyond all", forwarded("10.0.0.1:65536"), false],
  ["pitfall 164: no port behind its colon", forwarded("10.0.0.1:"), false],
  ["pitfall 164: a zone in brackets", forwarded("[2001:db8::1%1]:4711"), false],
  ["pitfall 164: half of the brackets", forwarded("[2001:db8::1:4711"), false],
  ["pitfall 164: quotes around a port", forwarded('"10.0.0.1:4711"'), false],
];

describe("B1, B2: no trusted proxies", () => {
  const rig = useRig();
  rows(rig, [
    ["nothing", [], false],
    ["X-Forwarded-For", forwarded("10.0.0.1"), false],
    ["many X-Forwarded-For", forwarded("10.0.0.1, 10.0.0.1, 10.0.0.1"), false],
    ["X-Forwarded-For of 8 KB", forwarded("10.0.0.1,".repeat(900)), false],
    ...alwaysIgnored,
  ]);
});

describe("B1, B2: one trusted hop", () => {
  const rig = useRig({ flags: ["--trusted-proxies-hops=1"] });
  rows(rig, [
    ["nothing", [], false],
    ["an allowed entry", forwarded("10.0.0.1"), true],
    ["the deny over the allow", forwarded("10.9.0.1"), false],
    ["a forged left entry", forwarded("10.0.0.1, 192.0.2.1"), false],
    ["a forged field before", ["X-Forwarded-For: 10.0.0.1", "X-Forwarded-For: 192.0.2.1"], false],
    ["the last of two fields", ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 10.0.0.1"], true],
    ["lower-case field name", ["x-forwarded-for: 10.0.0.1"], true],
    ["spaces and tabs", forwarded("192.0.2.1 , \t10.0.0.1 \t"), true],
    ["an empty last entry", forwarded("10.0.0.1,"), false],
    ["an empty last field", ["X-Forwarded-For: 10.0.0.1", "X-Forwarded-For:"], false],
    ["only commas", forwarded(",,,"), false],
    ["unknown", forwarded("unknown"), false],
    ["an obfuscated name", forwarded("_10.0.0.1"), false],
    ["a name", forwarded("localhost"), false],
    ["quotes", forwarded('"10.0.0.1"'), false],
    ["for=", forwarded("for=10.0.0.1"), false],
    ["an IPv6 address", forwarded("2001:db8::1"), true],
    ["upper case", forwarded("2001:DB8::1"), true],
    ["all zeroes written", forwarded("2001:0db8:0:0:0:0:0:1"), true],
    ["v4 mapped", forwarded("::ffff:10.0.0.1"), true],
    ["v4 mapped in hex", forwarded("::ffff:a00:1"), true],
    ["v4 mapped and denied", forwarded("::ffff:10.9.0.1"), false],
    ["v4 compatible, which is another address", forwarded("::10.0.0.1"), false],
    ...withPort,
    ["octal", forwarded("010.0.0.1"), false],
    ["octal of another", forwarded("012.0.0.1"), false],
    ["an integer", forwarded("167772161"), false],
    ["hex", forwarded("0x0a000001"), false],
    ["hex parts", forwarded("0xa.0.0.1"), false],
    ["a short form", forwarded("10.1"), false],
    ["a trailing dot", forwarded("10.0.0.1."), false],
    ["a leading zero", forwarded("10.0.0.01"), false],
    ["five parts", forwarded("10.0.0.1.1"), false],
    ["256", forwarded("10.0.0.256"), false],
    ["a prefix length", forwarded("10.0.0.1/32"), false],
    ["a zone", forwarded("fe80::1%eth0"), false],
    ["a zone on an allowed one", forwarded("2001:db8::1%1"), false],
    ["full-width digits", forwarded(Buffer.from("１０.0.0.1").toString("latin1")), false],
    ["an 8-bit byte behind", forwarded("10.0.0.1\u00a0"), false],
    ["a list of 8 KB whose last is allowed", forwarded(`${"192.0.2.1,".repeat(800)}10.0.0.1`), true],
    ["a list of 8 KB whose last is not", forwarded(`${"10.0.0.1,".repeat(800)}192.0.2.1`), false],
    ...alwaysIgnored,
    ["Connection nominating the field", [...forwarded("10.0.0.1"), "Connection: x-forwarded-for"], true],
  ]);

  it("B5: decides for each request of a connection", async () => {
    const client = await rig().connect();
    for (const [address, status] of [
      ["10.0.0.1", 200],
      ["192.0.2.1", 403],
      ["10.0.0.2", 200],
      ["10.9.0.1", 403],
      ["2001:db8::9", 200],
    ] as const) {
      client.write(rawRequest({ key: clientKeys.inside, headers: forwarded(address), body: chatBody() }));
      assert.equal((await client.readResponse()).status, status, address);
    }
    client.close();
  });
});

describe("B1: two trusted hops", () => {
  const rig = useRig({ flags: ["--trusted-proxies-hops=2"] });
  rows(rig, [
    ["one entry is one too few", forwarded("10.0.0.1"), false],
    ["the second from the right", forwarded("10.0.0.1, 192.0.2.1"), true],
    ["forged to the left of it", forwarded("10.0.0.1, 192.0.2.1, 192.0.2.2"), false],
    ["over two fields", ["X-Forwarded-For: 10.0.0.1", "X-Forwarded-For: 192.0.2.1"], true],
    ["an empty entry keeps its place", forwarded("10.0.0.1,,192.0.2.1"), false],
    ["the last alone is allowed", forwarded("192.0.2.1, 10.0.0.1"), false],
  ]);
});

describe("B1: trusted networks", () => {
  const rig = useRig({ flags: ["--trusted-proxies-cidrs=127.0.0.0/8,198.51.100.0/24,2001:db9::/32"] });
  rows(rig, [
    ["nothing: the proxy itself", [], false],
    ["behind one", forwarded("10.0.0.1"), true],
    ["behind two", forwarded("10.0.0.1, 198.51.100.7"), true],
    ["pitfall 164: ports all along", forwarded("10.0.0.1:1, [2001:db9::1]:2, 198.51.100.7:3"), true],
    ["pitfall 164: a stranger's port", forwarded("10.0.0.1:1, 192.0.2.1:2, 198.51.100.7:3"), false],
    ["behind one of each family", forwarded("10.0.0.1, 2001:db9::1, 198.51.100.7"), true],
    ["forged left of the first stranger", forwarded("10.0.0.1, 192.0.2.1, 198.51.100.7"), false],
    ["garbage behind a trusted one", forwarded("10.0.0.1, nonsense, 198.51.100.7"), false],
    ["an empty entry", forwarded("10.0.0.1,, 198.51.100.7"), false],
    ["only trusted ones", forwarded("198.51.100.7"), false],
  ]);
});

describe("B1: a connection that comes from no trusted proxy", () => {
  const rig = useRig({ flags: ["--trusted-proxies-cidrs=198.51.100.0/24"] });
  rows(rig, [["X-Forwarded-For", forwarded("10.0.0.1"), false]]);
});

function rows(rig: () => Rig, table: readonly Row[]): void {
  for (const [name, headers, isAllowed] of table) {
    it(`${name}: ${isAllowed ? "in" : "out"}`, async () => {
      const count = rig().upstream.requests.length;
      const response = await send(rig(), headers);
      assertNoSecret(response);
      assert.equal(response.status, isAllowed ? 200 : 403, response.body.toString());
      if (!isAllowed) assert.equal(errorCode(response), "ip_not_allowed");
      assert.equal(rig().upstream.requests.length, count + (isAllowed ? 1 : 0));
      // A key without address rules is served whatever the headers say.
      const free = await rig().exchange(rawRequest({ headers, body: chatBody() }));
      assert.equal(free.status, 200);
    });
  }
}

function send(rig: Rig, headers: readonly string[]) {
  return rig.exchange(rawRequest({ key: clientKeys.inside, headers, body: chatBody() }));
}
