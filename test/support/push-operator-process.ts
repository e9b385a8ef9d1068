/**
 * An operator's push side in a process of its own, with many keys: so that a test measures the proxy's memory and event
 * loop alone. Arguments: socket path, number of keys. Each message from the parent changes one key.
 */
import { Fleet } from "#operator/push/fleet";
import { listenOnSocket } from "#operator/push/listen-on-socket";
import { Publisher } from "#operator/push/publisher";
import { createPushServer } from "#operator/push/push-server";
import { objectId } from "#proxy/snapshot/object-id";
import { fullKey } from "./wire-objects.ts";

const [socketPath = "", count = "0"] = process.argv.slice(2);
const publisher = new Publisher();
const fleet = new Fleet(publisher);
const begunAt = performance.now();
await publisher.publishChangesInSlices({ upserts: keys(Number(count)), removes: [] });
const publishedInMs = performance.now() - begunAt;
const server = createPushServer({
  publisher,
  fleet,
  operator: "operator",
  heartbeatMs: 10_000,
  deadMs: 30_000,
  authenticateProxy: async () => ({ name: "owner" }),
});
await listenOnSocket(server, socketPath);
process.send?.({ publishedInMs });
process.on("message", (index) => {
  const key = { ...fullKey(Number(index)), maxInFlight: 7 };
  publisher.publishChanges({ upserts: [[objectId(key), key]], removes: [] });
});
process.on("disconnect", () => process.exit(0));

function* keys(total: number) {
  for (let index = 0; index < total; index += 1) {
    const key = fullKey(index);
    yield [objectId(key), key] as const;
  }
}
