import assert from "node:assert/strict";
import fc from "fast-check";
import { EgressPolicy, type EgressVerdict } from "#proxy/snapshot/egress-policy";

const nothingAllowed = new EgressPolicy([]);
const everythingAllowed = new EgressPolicy(["0.0.0.0/0", "::/0"]);

const verdicts: Readonly<Record<EgressVerdict, readonly string[]>> = {
  allowed: [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200a",
    "::ffff:1.1.1.1",
    "::ffff:808:808",
  ],
  private: [
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "240.0.0.1",
    "255.255.255.254",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:192.168.1.1",
    "64:ff9b::1.1.1.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:808:808::1",
    "2002:0a00:0001::1",
    "fc00::1",
    "fd12:3456:789a::1",
    "fec0::1",
  ],
  forbidden: [
    "0.0.0.0",
    "0.1.2.3",
    "169.254.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "64:ff9b::168.63.129.16",
    "169.254.170.2",
    "169.254.255.255",
    "224.0.0.1",
    "239.255.255.255",
    "255.255.255.255",
    "::",
    "0:0:0:0:0:0:0:0",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::FFFF:A9FE:A9FE",
    "::ffff:0.0.0.0",
    "::ffff:224.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "ff02::1",
    "fd00:ec2::254",
    "fd00:0ec2:0:0:0:0:0:254",
  ],
  "not-an-address": [
    "",
    "localhost",
    "models.example.com",
    "127.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.1.",
    " 127.0.0.1",
    "127.0.0.1:80",
    "[::1]",
    "::1/128",
    "1.2.3.256",
    "::g",
    "169。254。169。254",
  ],
};

describe("EgressPolicy", () => {
  for (const [verdict, addresses] of Object.entries(verdicts)) {
    for (const address of addresses) {
      it(`takes ${JSON.stringify(address)} for ${verdict}`, () => assert.equal(nothingAllowed.judge(address), verdict));
    }
  }

  it("opens what is private when all is allowed, and never what is forbidden", () => {
    for (const address of [...verdicts.allowed, ...verdicts.private])
      assert.equal(everythingAllowed.judge(address), "allowed", address);
    for (const address of verdicts.forbidden) assert.equal(everythingAllowed.judge(address), "forbidden", address);
    for (const text of verdicts["not-an-address"]) assert.equal(everythingAllowed.judge(text), "not-an-address", text);
  });

  for (const row of [
    { name: "opens one network", cidrs: ["10.1.0.0/16"], address: "10.1.2.3", want: "allowed" },
    { name: "opens nothing beside it", cidrs: ["10.1.0.0/16"], address: "10.2.0.1", want: "private" },
    { name: "opens one address", cidrs: ["127.0.0.1/32"], address: "127.0.0.1", want: "allowed" },
    { name: "opens not its neighbour", cidrs: ["127.0.0.1/32"], address: "127.0.0.2", want: "private" },
    {
      name: "takes an address without a length for itself",
      cidrs: ["127.0.0.1"],
      address: "127.0.0.1",
      want: "allowed",
    },
    { name: "and for nothing else", cidrs: ["127.0.0.1"], address: "127.0.0.2", want: "private" },
    { name: "opens the mapped form as well", cidrs: ["10.0.0.0/8"], address: "::ffff:10.0.0.1", want: "allowed" },
    { name: "opens a v6 network", cidrs: ["fd12::/16"], address: "fd12::1", want: "allowed" },
    { name: "opens no v6 loopback with a v4 one", cidrs: ["127.0.0.0/8"], address: "::1", want: "private" },
    { name: "knows several networks", cidrs: ["10.0.0.0/8", "::1/128"], address: "::1", want: "allowed" },
    { name: "ignores a name", cidrs: ["localhost/8"], address: "127.0.0.1", want: "private" },
    { name: "ignores a length too large", cidrs: ["10.0.0.0/33"], address: "10.0.0.0", want: "private" },
    { name: "ignores a length below zero", cidrs: ["10.0.0.0/-1"], address: "10.0.0.1", want: "private" },
    { name: "ignores a length that is no number", cidrs: ["10.0.0.0/1e1"], address: "10.0.0.1", want: "private" },
  ] as const) {
    it(row.name, () => assert.equal(new EgressPolicy(row.cidrs).judge(row.address), row.want));
  }

  it("ignores a network with a zone and judges an address with one, however long they are spelled", () => {
    const spelledOut = "000:000:000:0000:0000:0000:100.100.100.0%eth0";
    assert.equal(new EgressPolicy([spelledOut]).judge(spelledOut), "private");
    assert.equal(nothingAllowed.judge("0000:0000:0000:0000:0000:ffff:169.254.169.254%eth0"), "forbidden");
  });

  it("never throws, whatever is allowed and judged", () => {
    const text = fc.oneof(
      fc.string(),
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV6().map((address) => `${address}%eth0`),
      fc.ipV4().map((address) => `::ffff:${address}`),
    );
    const cidr = fc.oneof(
      text,
      fc.tuple(text, fc.oneof(fc.integer(), fc.string())).map((parts) => parts.join("/")),
    );
    fc.assert(
      fc.property(fc.array(cidr, { maxLength: 4 }), text, (cidrs, address) => {
        const verdict = new EgressPolicy(cidrs).judge(address);
        if (nothingAllowed.judge(address) === "forbidden") assert.equal(verdict, "forbidden");
      }),
    );
  });

  it("judges a v4 address and its mapped form alike", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        assert.equal(nothingAllowed.judge(`::ffff:${address}`), nothingAllowed.judge(address));
      }),
    );
  });
});
