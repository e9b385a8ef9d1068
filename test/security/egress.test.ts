/**
 * docs/design/reliability.md EG2, EG4 and EG5 against the program: where a channel may lead, at compile and at connect.
 */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { after, before, describe, it } from "mocha";
import { FakeUpstream } from "#test/support/fake-upstream";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";
import { chatBody, rawRequest } from "./rig/raw-request.ts";
import { assertNoSecret, Rig, useRig } from "./rig/rig.ts";
import { channelManifest, clientKeys, rigManifests, routeManifest } from "./rig/rig-manifests.ts";

/** Every spelling of a place inside, each with the canary's port. */
function privateUrls(port: number): string[] {
  return [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "127.255.255.254",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[::ffff:169.254.169.254]",
    "2852039166",
    "0xa9fea9fe",
    "224.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
    "192.0.0.1",
    "198.18.0.1",
    "240.0.0.1",
    "127.0.0.1%2e",
    "①②⑦.⓪.⓪.①",
    "user:pass@127.0.0.1",
    "ip6-localhost",
  ].map((host) => `http://${host}:${port}/v1`);
}

describe("EG2: channels that lead inside", function () {
  this.timeout(60_000);
  let canary: Server;
  let connections = 0;
  let gateway: Gateway;
  let rig: Rig;
  let port = 0;

  before(async () => {
    canary = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => canary.unref().listen(0, "::", resolve));
    const address = canary.address();
    port = typeof address === "object" && address !== null ? address.port : assert.fail();
    const inside = privateUrls(port).flatMap((url, index) => [
      channelManifest(JSON.stringify(url), `inside-${index}`),
      routeManifest(`inside-${index}`, { channel: `inside-${index}` }),
    ]);
    const others = ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "unix:/tmp/x", "//127.0.0.1/"].map(
      (url, index) => channelManifest(JSON.stringify(url), `scheme-${index}`),
    );
    gateway = await startGateway({
      manifests: {
        "rig.yaml": rigManifests("https://public.invalid"),
        ...Object.fromEntries([...inside, ...others].map((text, index) => [`inside-${index}.yaml`, text])),
      },
      // The default would allow loopback for the other suites.
      flags: ["--egress-allow-cidrs="],
    });
    rig = new Rig(gateway, await FakeUpstream.start());
    await waitFor("the key", async () => (await gateway.explain("default/good", "open-a")).refused !== "unknown_key");
  });
  after(async () => {
    canary.close();
    await rig.close();
  });

  it("reach none of 45 spellings of private places", async () => {
    const urls = privateUrls(1);
    assert.equal(urls.length, 45);
    for (const index of urls.keys()) {
      const response = await rig.exchange(rawRequest({ body: chatBody(`inside-${index}`) }));
      assertNoSecret(response);
      assert.ok(response.status >= 404, `${urls[index]}: status ${response.status}`);
      assert.doesNotMatch(response.body.toString(), /127\.0|169\.254|egress|CIDR/i);
    }
    assert.equal(connections, 0);
  });

  it("are named in the operator's log or status, not served silently", () => {
    assert.match(gateway.logs, /egress|private|link-local/i);
  });
});

describe("EG4: proxies of the environment", () => {
  let proxy: Server;
  let connections = 0;
  before(async () => {
    proxy = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.unref().listen(0, "127.0.0.1", resolve));
  });
  after(() => proxy.close());

  describe("are ignored", () => {
    const environment: Record<string, string> = {};
    before(() => {
      const address = proxy.address();
      assert.ok(typeof address === "object" && address !== null);
      const url = `http://127.0.0.1:${address.port}`;
      for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) {
        environment[name] = url;
        environment[name.toLowerCase()] = url;
      }
      environment["NODE_USE_ENV_PROXY"] = "1";
    });
    const rig = useRig({ environment });

    it("by every call", async () => {
      const response = await rig().exchange(rawRequest({ key: clientKeys.good, body: chatBody() }));
      assert.equal(response.status, 200);
      assert.equal(connections, 0);
    });
  });
});
