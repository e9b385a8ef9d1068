import assert from "node:assert/strict";
import { type IpAddress, parseIpAddress, parseSocketAddress } from "#proxy/http/address/ip-address";

function words(address: IpAddress | undefined): string {
  if (address === undefined) return "no address";
  const { high, highMiddle, lowMiddle, low } = address;
  const hex = [high, highMiddle, lowMiddle, low].map((word) => word.toString(16).padStart(8, "0"));
  return address.family === 4 ? `4 ${hex[3]}` : `6 ${hex.join(" ")}`;
}

describe("parseIpAddress", () => {
  const rows: [text: string, want: string][] = [
    ["10.0.0.1", "4 0a000001"],
    ["255.255.255.255", "4 ffffffff"],
    ["0.0.0.0", "4 00000000"],
    ["::ffff:10.0.0.1", "4 0a000001"],
    ["::FFFF:a00:1", "4 0a000001"],
    ["0:0:0:0:0:ffff:10.0.0.1", "4 0a000001"],
    ["0000:0000:0000:0000:0000:ffff:255.255.255.255", "4 ffffffff"],
    ["::", "6 00000000 00000000 00000000 00000000"],
    ["::1", "6 00000000 00000000 00000000 00000001"],
    ["0:0:0:0:0:0:0:1", "6 00000000 00000000 00000000 00000001"],
    ["2001:DB8::A", "6 20010db8 00000000 00000000 0000000a"],
    ["1:2:3:4:5:6:7:8", "6 00010002 00030004 00050006 00070008"],
    ["1::8", "6 00010000 00000000 00000000 00000008"],
    ["1:2:3:4:5:6:7::", "6 00010002 00030004 00050006 00070000"],
    ["64:ff9b::1.2.3.4", "6 0064ff9b 00000000 00000000 01020304"],
    ["::1.2.3.4", "6 00000000 00000000 00000000 01020304"],
    ...[
      "",
      " 10.0.0.1",
      "10.0.0.1 ",
      "010.0.0.1",
      "10.0.0.01",
      "0x0a.0.0.1",
      "167772161",
      "127.1",
      "10.0.1",
      "10.0.0.1.",
      "10.0.0.256",
      "10.0.0.1:80",
      "10.0.0.1/32",
      "[::1]",
      "[::1]:80",
      "fe80::1%eth0",
      "::1%",
      ":::",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "12345::",
      "::ffff:010.0.0.1",
      "::ffff:10.0.0",
      "unknown",
      "_hidden",
      "localhost",
      "１０.0.0.1",
      "10\u30020.0.1",
      "a".repeat(8192),
    ].map((text): [string, string] => [text, "no address"]),
  ];
  for (const [text, want] of rows) {
    it(`reads ${JSON.stringify(text.slice(0, 50))} as ${want}`, () => assert.equal(words(parseIpAddress(text)), want));
  }

  it("lets a socket's link-local address carry its zone", () => {
    assert.equal(words(parseSocketAddress("fe80::1%eth0")), "6 fe800000 00000000 00000000 00000001");
    assert.equal(words(parseSocketAddress("::ffff:127.0.0.1")), "4 7f000001");
    assert.equal(parseSocketAddress(undefined), undefined);
  });
});
