/** The official SDK's own realtime client, of both releases that are in use; it speaks TLS alone. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import OpenAI6 from "openai-6";
import { OpenAIRealtimeWS as Realtime6 } from "openai-6/realtime/ws";
import OpenAI7 from "openai-7";
import { OpenAIRealtimeWS as Realtime7 } from "openai-7/realtime/ws";
import { buildAuthority, buildLeaf } from "#operator/certificates/build-certificate";
import { type RealtimeRig, startRealtimeRig } from "#test/support/realtime/realtime-rig";
import { rawKey } from "#test/support/resilience/manifests";
import { within } from "#test/support/wait-for";

interface SdkEvent {
  readonly type: string;
  readonly response?: { readonly usage?: { readonly output_tokens?: number } };
}

/** What both releases have in common. */
interface Driver {
  readonly socket: { on(event: "open", listener: () => void): unknown };
  readonly onEvent: (listener: (event: SdkEvent) => void) => void;
  readonly onError: (listener: (error: Error) => void) => void;
  readonly update: (session: { readonly instructions?: string; readonly model?: string }) => void;
  readonly ask: () => void;
  readonly close: () => void;
}

const day = 24 * 3_600_000;

describe("the official SDK's realtime client", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  let folder: string;
  let ca: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-tls-"));
    const validity = { notBeforeMs: Date.now() - day, notAfterMs: Date.now() + day };
    const authority = await buildAuthority("test", validity);
    const leaf = await buildLeaf(authority, { ...validity, dnsNames: ["localhost"] });
    ca = authority.certificate;
    const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    await writeFile(cert, leaf.certificate);
    await writeFile(key, leaf.privateKey);
    rig = await startRealtimeRig({ flags: [`--tls-cert=${cert}`, `--tls-key=${key}`] });
  });
  after(async () => {
    await rig?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const client = () => ({ apiKey: rawKey("main"), baseURL: `https://localhost:${rig.gateway.port}/v1` });
  const props = () => ({ model: "talk", options: { ca } });

  function openai6(): Driver {
    const realtime = new Realtime6(props(), new OpenAI6(client()));
    return {
      socket: realtime.socket,
      onEvent: (listener) => void realtime.on("event", listener),
      onError: (listener) => void realtime.on("error", listener),
      update: (session) => realtime.send({ type: "session.update", session: { type: "realtime", ...session } }),
      ask: () => realtime.send({ type: "response.create" }),
      close: () => realtime.close(),
    };
  }

  function openai7(): Driver {
    const realtime = new Realtime7(props(), new OpenAI7(client()));
    return {
      socket: realtime.socket,
      onEvent: (listener) => void realtime.on("event", listener),
      onError: (listener) => void realtime.on("error", listener),
      update: (session) => realtime.send({ type: "session.update", session: { type: "realtime", ...session } }),
      ask: () => realtime.send({ type: "response.create" }),
      close: () => realtime.close(),
    };
  }

  for (const [name, open] of [
    ["openai 6", openai6],
    ["openai 7", openai7],
  ] as const) {
    it(`${name} holds a conversation`, async () => {
      const realtime = open();
      const seen: string[] = [];
      const done = new Promise<number | undefined>((resolve, reject) => {
        realtime.onError(reject);
        realtime.onEvent((event) => {
          seen.push(event.type);
          if (event.type === "response.done") resolve(event.response?.usage?.output_tokens);
        });
      });
      realtime.socket.on("open", () => {
        realtime.update({ instructions: "be brief" });
        realtime.ask();
      });
      assert.equal(await within(5_000, "the response", done), 5);
      assert.deepEqual(seen, [
        "session.created",
        "session.updated",
        "response.created",
        "response.output_text.delta",
        "response.done",
      ]);
      realtime.close();
      await rig.settleDown();
    });

    it(`${name} tells an error event as an error`, async () => {
      const realtime = open();
      const failed = new Promise<Error>((resolve) => realtime.onError(resolve));
      realtime.socket.on("open", () => realtime.update({ model: "nothing" }));
      assert.match((await within(5_000, "the error", failed)).message, /nothing/);
      realtime.close();
    });
  }
});
