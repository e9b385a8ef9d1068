/** The official SDK manages files and batches of an upstream account through a route that passes them on. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";
import { openaiGenerations } from "#test/support/official-clients";

const file = { id: "file-1", object: "file", bytes: 5, created_at: 1, filename: "a.jsonl", purpose: "batch" };
const lines = '{"custom_id":"1"}\n';

function replyTo({ method, target, body }: ReceivedRequest): ScriptedReply {
  if (target === "/v1/files/file-1/content") return { body: lines, headers: { "content-type": "application/jsonl" } };
  if (method === "DELETE") return { body: JSON.stringify({ id: "file-1", object: "file", deleted: true }) };
  if (method === "POST" && target === "/v1/files") {
    const isWhole = body.includes(lines) && body.includes('name="purpose"') && body.includes('filename="a.jsonl"');
    return isWhole ? { body: JSON.stringify(file) } : { status: 400, body: '{"error":{"message":"no file"}}' };
  }
  if (target.startsWith("/v1/files?"))
    return { body: JSON.stringify({ object: "list", data: [file], has_more: false }) };
  if (target === "/v1/batches")
    return { body: JSON.stringify({ id: "batch_1", object: "batch", status: "validating" }) };
  return { status: 404, body: JSON.stringify({ error: { message: "No such File object" } }) };
}

describe("official SDKs: files that are passed on", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start(replyTo);
    const paths = ["/files", "/files/{id}", "/files/{id}/content", "/batches"];
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        keyManifest("k"),
        channelSecretManifest(),
        channelManifest("files", upstream.origin, { formats: [{ type: "Passthrough", paths }] }),
        routeManifest("files", { capabilities: ["Passthrough"], price: { perRequest: "0.001" } }),
      ),
    });
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  for (const { name, load } of openaiGenerations) {
    const client = (): InstanceType<ReturnType<typeof load>> =>
      new (load())({ baseURL: `${gateway.origin}/v1/passthrough/files`, apiKey: clientKey("k"), maxRetries: 0 });

    it(`${name} uploads, lists, downloads and deletes a file, and begins a batch`, async () => {
      const api = client();
      const made = await api.files.create({ file: new File([lines], "a.jsonl"), purpose: "batch" });
      assert.equal(made.id, "file-1");
      const listed = await api.files.list({ purpose: "batch", limit: 1 });
      assert.deepEqual(
        listed.data.map(({ id }) => id),
        ["file-1"],
      );
      assert.equal(await (await api.files.content("file-1")).text(), lines);
      const batch = await api.batches.create({
        input_file_id: "file-1",
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
      });
      assert.equal(batch.status, "validating");
      assert.equal((await api.files.delete("file-1")).deleted, true);
    });

    it(`${name} tells a file that is not there from a path that is not passed on, by the same class`, async () => {
      const api = client();
      for (const call of [() => api.files.retrieve("file-2"), () => api.fineTuning.jobs.list()]) {
        await assert.rejects(call, (error: Error) => {
          assert.equal(error.constructor.name, "NotFoundError");
          return true;
        });
      }
    });
  }
});
