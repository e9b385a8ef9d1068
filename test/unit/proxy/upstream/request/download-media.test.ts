import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { MediaDownloads } from "#proxy/upstream/request/download-media";

const limits = { bytesMax: 1_000, timeoutMs: 500, redirectsMax: 3, atOnceMax: 2 };

describe("MediaDownloads", () => {
  let server: Server;
  let origin = "";
  let listener: RequestListener;
  const seen: string[] = [];
  const downloads = new MediaDownloads(limits, ["127.0.0.1/32"]);
  const closed = new MediaDownloads(limits);

  before(async () => {
    server = createServer((request, response) => {
      seen.push(JSON.stringify(request.headers));
      listener(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  });
  after(async () => {
    await downloads.close();
    await closed.close();
    server.closeAllConnections();
    server.close();
  });

  it("takes the bytes and the type, and tells the server nothing", async () => {
    listener = (_request, response) => response.setHeader("content-type", "Image/PNG; x=1").end(Buffer.from([1, 2, 3]));
    assert.deepEqual(await downloads.fetch(`${origin}/a.png`, "messages[0]"), { base64: "AQID", mime: "image/png" });
    assert.doesNotMatch(seen.at(-1) ?? "", /authorization|cookie|x-api-key|tollgate/i);
  });
  it("follows a redirect", async () => {
    listener = (request, response) =>
      request.url === "/b" ? response.end("x") : response.writeHead(302, { location: "/b" }).end();
    assert.equal((await downloads.fetch(`${origin}/a`, "p")).base64, "eA==");
  });

  for (const row of [
    { name: "an endless redirect", listen: (_q, r) => r.writeHead(302, { location: "/again" }).end() },
    { name: "another status", listen: (_q, r) => r.writeHead(404).end("no") },
    { name: "a file beyond the limit", listen: (_q, r) => r.end(Buffer.alloc(2_000)) },
    { name: "a server that does not reply", listen: () => undefined },
    { name: "a file that never ends", listen: (_q, r) => r.write("x") },
    {
      name: "a redirect to a file of the machine",
      listen: (_q, r) => r.writeHead(302, { location: "file:///etc/passwd" }).end(),
    },
    {
      name: "a redirect inside the network",
      listen: (_q, r) => r.writeHead(302, { location: "http://10.0.0.1/" }).end(),
    },
    {
      name: "a redirect to cloud metadata",
      listen: (_q, r) => r.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    },
  ] satisfies { name: string; listen: RequestListener }[]) {
    it(`refuses ${row.name}, naming the part and nothing of the network`, async () => {
      listener = row.listen;
      await assert.rejects(downloads.fetch(`${origin}/a`, "messages[0].content[1]"), (error: unknown) => {
        assert.equal(Reflect.get(Object(error), "code"), "invalid_value");
        assert.equal(Reflect.get(Object(error), "param"), "messages[0].content[1]");
        assert.doesNotMatch(String(error), /127\.0\.0\.1|10\.0\.0|404|refuse/);
        return true;
      });
    });
  }

  for (const url of [
    "http://127.0.0.1:1/",
    "http://localhost:1/",
    "http://[::1]:1/",
    "http://169.254.169.254/x",
    "http://10.1.2.3/",
    "ftp://a.example/",
    "not a url",
  ]) {
    it(`reaches nothing by ${url}`, async () => {
      await assert.rejects(closed.fetch(url, "p"), { code: "invalid_value" });
    });
  }
  it("fetches no more at once than it may, and again when others are done", async () => {
    listener = () => undefined;
    const slow = [downloads.fetch(`${origin}/1`, "p"), downloads.fetch(`${origin}/2`, "p")];
    await assert.rejects(downloads.fetch(`${origin}/3`, "p"), { code: "overloaded" });
    await Promise.allSettled(slow);
    listener = (_request, response) => response.end("x");
    assert.equal((await downloads.fetch(`${origin}/4`, "p")).base64, "eA==");
  });
  it("ends a download that nobody waits for", async () => {
    const stop = new AbortController();
    listener = () => stop.abort();
    const fetching = downloads.fetch(`${origin}/1`, "p", { signal: stop.signal, hold: () => undefined });
    await assert.rejects(fetching, { code: "invalid_value" });
  });
  it("reaches no server of this machine by its name or address", async () => {
    const count = seen.length;
    await assert.rejects(closed.fetch(`${origin}/a`, "p"));
    await assert.rejects(closed.fetch(origin.replace("127.0.0.1", "localhost"), "p"));
    assert.equal(seen.length, count);
  });
});
