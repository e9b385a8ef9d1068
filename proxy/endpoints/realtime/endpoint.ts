/**
 * The realtime endpoint: speech and text both ways over a WebSocket, relayed to an upstream of the same protocol.
 *
 * Sessions are opened here and nowhere else: ephemeral keys for browsers are not handed out (docs/design/realtime.md 1).
 */
import type { PlainEndpoint } from "#proxy/endpoints/endpoint";
import { refuseBrowserKeys } from "./handshake.ts";
import { serveRealtime } from "./serve-realtime.ts";

export const realtime: PlainEndpoint = {
  name: "realtime",
  capability: "Realtime",
  channelFormats: ["Realtime"],
  paths: [
    {
      kind: "socket",
      path: "/v1/realtime",
      otherSpellings: ["/realtime", "/v1/v1/realtime"],
      match: { protocol: "OpenAI" },
    },
  ],
  body: "upgrade",
  metricFormat: () => "Realtime",
  refuseCredentials: refuseBrowserKeys,
  serve: serveRealtime,
};
