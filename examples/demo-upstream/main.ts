/**
 * Runs the demo upstream on its own: `node examples/demo-upstream/main.ts --port 0 [--host 127.0.0.1] [--pace 20]`.
 * Prints its address as one line and ends with SIGTERM or SIGINT, or with its parent when started with an IPC channel.
 */
import { parseArgs } from "node:util";
import { createDemoUpstream } from "./server.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "9999" },
    host: { type: "string", default: "127.0.0.1" },
    /** Milliseconds between events of a stream. */
    pace: { type: "string", default: "20" },
  },
});

const server = createDemoUpstream({ paceMs: Number(values.pace) });
server.on("error", (error) => {
  console.error(`demo upstream: ${error.message}`);
  process.exit(1);
});
server.listen(Number(values.port), values.host, () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) return;
  console.log(`demo upstream on http://${values.host}:${address.port}`);
  process.send?.({ port: address.port });
});

const stop = (): void => {
  server.close();
  server.closeAllConnections();
  if (process.connected) process.disconnect();
};
process.on("SIGTERM", stop).on("SIGINT", stop).on("disconnect", stop);
