import assert from "node:assert/strict";
import { ConnectionsByAddress } from "#proxy/http/connections-by-address";

const nobody = { hops: 0, cidrs: [] };

describe("ConnectionsByAddress", () => {
  it("takes as many of one address as it may, and again when one has closed", () => {
    const connections = new ConnectionsByAddress(2, nobody);
    const place = connections.opened("10.0.0.1");
    assert.ok(typeof place === "string");
    assert.notEqual(connections.opened("::ffff:10.0.0.1"), false);
    assert.equal(connections.opened("10.0.0.1"), false);
    assert.notEqual(connections.opened("10.0.0.2"), false);
    connections.closed(place);
    assert.equal(connections.opened("10.0.0.1"), place);
    assert.equal(connections.opened("10.0.0.1"), false);
  });

  it("takes a /64 of IPv6 as one address", () => {
    const connections = new ConnectionsByAddress(1, nobody);
    assert.ok(connections.opened("2001:db8:0:1::1"));
    assert.equal(connections.opened("2001:db8:0:1:ffff::2"), false);
    assert.ok(connections.opened("2001:db8:0:2::1"));
  });

  it("forgets addresses without connections", () => {
    const connections = new ConnectionsByAddress(1, nobody);
    for (let index = 0; index < 100; index += 1) {
      const place = connections.opened(`10.0.0.${index}`);
      assert.ok(typeof place === "string");
      connections.closed(place);
    }
    assert.equal(connections.size, 0);
  });

  it("counts no trusted proxy", () => {
    const byBlock = new ConnectionsByAddress(1, { hops: 0, cidrs: ["10.0.0.0/8"] });
    for (let index = 0; index < 3; index += 1) assert.equal(byBlock.opened("10.0.0.1"), undefined);
    assert.ok(byBlock.opened("192.0.2.1"));
    assert.equal(byBlock.opened("192.0.2.1"), false);
    const byHops = new ConnectionsByAddress(1, { hops: 1, cidrs: [] });
    for (let index = 0; index < 3; index += 1) assert.equal(byHops.opened("192.0.2.1"), undefined);
    assert.equal(byHops.size, 0);
  });

  it("counts nothing that has no address any more", () => {
    assert.equal(new ConnectionsByAddress(1, nobody).opened(undefined), undefined);
  });
});
