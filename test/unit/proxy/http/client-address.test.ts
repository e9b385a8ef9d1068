import assert from "node:assert/strict";
import fc from "fast-check";
import { parseIpAddress } from "#proxy/http/address/ip-address";
import { readClientAddress, type TrustedProxies } from "#proxy/http/client-address";

const nobody: TrustedProxies = { hops: 0, cidrs: [] };
const oneHop: TrustedProxies = { hops: 1, cidrs: [] };
const twoHops: TrustedProxies = { hops: 2, cidrs: [] };
const internal: TrustedProxies = { hops: 0, cidrs: ["10.0.0.0/8", "fd00::/8"] };

const withPort: readonly (readonly [entry: string, want: string])[] = [
  ["198.51.100.7:4711", "198.51.100.7"],
  ["198.51.100.7:0", "198.51.100.7"],
  ["198.51.100.7:65535", "198.51.100.7"],
  ["[2001:db8::1]:4711", "2001:db8::1"],
  ["[2001:DB8:0:0::1]", "2001:db8::1"],
  ["[::ffff:198.51.100.7]:80", "198.51.100.7"],
  ["[::ffff:c633:6407]", "198.51.100.7"],
  // Nobody can tell a port in it: it is the address that it is.
  ["2001:db8::1:4711", "2001:db8::1:4711"],
];

const notWithPort = [
  ...["1.1.1.1:", "1.1.1.1:65536", "1.1.1.1:123456", "1.1.1.1:x", "1.1.1.1:+80", "1.1.1.1: 80", "1.1.1.1 :80"],
  ...["1.1.1.1:80:80", "010.0.0.1:80", "1.1.1:80", "256.1.1.1:80", ":80", "localhost:80", "::ffff:1.1.1.1:80"],
  ...["[1.1.1.1]", "[1.1.1.1]:80", "[::1", "::1]", "[]", "[]:80", "[[::1]]", "[::1]80", "[::1]:", "[::1]:65536"],
  ...["[::1] :80", "[ ::1]", "[fe80::1%e0]", "[fe80::1%25e0]:80", "[::1]:80:80", "x[::1]", "[::1][::1]:80"],
  ...['"1.1.1.1:80"', '"[::1]:80"', "for=1.1.1.1:80", "1.1.1.1:80;proto=https", "http://1.1.1.1:80"],
];

describe("readClientAddress", () => {
  const rows: {
    name: string;
    trusted: TrustedProxies;
    peer?: string;
    forwarded: string[];
    want: string | undefined;
  }[] = [
    { name: "trusts nobody by default", trusted: nobody, forwarded: ["1.1.1.1"], want: "10.0.0.9" },
    { name: "takes the last entry behind one hop", trusted: oneHop, forwarded: ["6.6.6.6, 1.1.1.1"], want: "1.1.1.1" },
    {
      name: "takes the last but one behind two",
      trusted: twoHops,
      forwarded: ["6.6.6.6, 1.1.1.1, 2.2.2.2"],
      want: "1.1.1.1",
    },
    {
      name: "joins several fields in order",
      trusted: twoHops,
      forwarded: ["6.6.6.6", "1.1.1.1", "2.2.2.2"],
      want: "1.1.1.1",
    },
    { name: "strips space and tab", trusted: oneHop, forwarded: ["6.6.6.6,\t 1.1.1.1 \t"], want: "1.1.1.1" },
    { name: "knows none when a hop wrote nothing", trusted: oneHop, forwarded: [], want: undefined },
    { name: "knows none when entries are fewer than hops", trusted: twoHops, forwarded: ["1.1.1.1"], want: undefined },
    { name: "keeps the place of empty items", trusted: twoHops, forwarded: ["6.6.6.6,,2.2.2.2"], want: undefined },
    { name: "knows none for an empty last item", trusted: oneHop, forwarded: ["1.1.1.1,"], want: undefined },
    ...["unknown", "_x", "fe80::1%e0", "010.0.0.1", "127.1", '"1.1.1.1"', "\u00a01.1.1.1"].map((entry) => ({
      name: `knows none for ${entry}`,
      trusted: oneHop,
      forwarded: [entry],
      want: undefined,
    })),
    ...withPort.flatMap(([entry, want]) => [
      {
        name: `pitfall 164: behind one hop ${entry} is ${want}`,
        trusted: oneHop,
        forwarded: [`6.6.6.6, ${entry}`],
        want,
      },
      {
        name: `pitfall 164: behind trusted networks ${entry} is ${want}`,
        trusted: internal,
        forwarded: [`6.6.6.6:1, ${entry}, 10.0.0.2:4711, [fd00::2]:4711`],
        want,
      },
    ]),
    ...notWithPort.flatMap((entry) => [
      { name: `pitfall 164: behind one hop ${entry} is none`, trusted: oneHop, forwarded: [entry], want: undefined },
      {
        name: `pitfall 164: behind trusted networks ${entry} is none`,
        trusted: internal,
        forwarded: [`1.1.1.1, ${entry}, 10.0.0.2:4711`],
        want: undefined,
      },
    ]),
    { name: "reads mapped IPv4 as IPv4", trusted: oneHop, forwarded: ["::ffff:1.1.1.1"], want: "1.1.1.1" },
    {
      name: "survives a list of 8 KB",
      trusted: oneHop,
      forwarded: [`${"6.6.6.6,".repeat(1_000)}1.1.1.1`],
      want: "1.1.1.1",
    },
    {
      name: "stops at the first untrusted",
      trusted: internal,
      forwarded: ["6.6.6.6, 1.1.1.1, 10.0.0.2"],
      want: "1.1.1.1",
    },
    {
      name: "ignores the list of a stranger",
      trusted: internal,
      peer: "9.9.9.9",
      forwarded: ["10.0.0.1"],
      want: "9.9.9.9",
    },
    {
      name: "takes the outermost when all are trusted",
      trusted: internal,
      forwarded: ["10.0.0.3, 10.0.0.2"],
      want: "10.0.0.3",
    },
    { name: "takes a trusted peer without a list", trusted: internal, forwarded: [], want: "10.0.0.9" },
    {
      name: "does not look past what is no address",
      trusted: internal,
      forwarded: ["1.1.1.1, x, 10.0.0.2"],
      want: undefined,
    },
  ];
  for (const { name, trusted, peer = "10.0.0.9", forwarded, want } of rows) {
    it(name, () => {
      const headers = forwarded.flatMap((value) => ["X-Forwarded-For", value]);
      const address = readClientAddress(peer, headers, trusted);
      assert.deepEqual(address, want === undefined ? undefined : parseIpAddress(want));
    });
  }

  it("ignores every other header that names an address", () => {
    const names = [
      "Forwarded",
      "X-Real-IP",
      "True-Client-IP",
      "CF-Connecting-IP",
      "X-Client-IP",
      "X_Forwarded_For",
      "Via",
    ];
    const headers = names.flatMap((name) => [name, "1.1.1.1"]);
    for (const trusted of [nobody, internal]) {
      assert.deepEqual(readClientAddress("10.0.0.9", headers, trusted), parseIpAddress("10.0.0.9"));
    }
    assert.equal(readClientAddress("10.0.0.9", headers, oneHop), undefined);
  });

  it("never lets forged entries on the left change the address", () => {
    const forged = fc.array(fc.oneof(fc.ipV4(), fc.string(), fc.constantFrom("", "unknown", "::1")), { maxLength: 5 });
    fc.assert(
      fc.property(forged, fc.ipV4(), (entries, real) => {
        const headers = [
          ...entries.flatMap((entry) => ["x-forwarded-for", entry]),
          "X-FORWARDED-FOR",
          `${real}, 10.0.0.2`,
        ];
        assert.deepEqual(readClientAddress("10.0.0.9", headers, twoHops), parseIpAddress(real));
      }),
      { numRuns: 2_000 },
    );
  });
});
