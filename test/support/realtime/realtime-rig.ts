/** A gateway with realtime upstreams behind it. */
import { after, afterEach, before } from "mocha";
import { apiKey, channel, manifest, rawKey, route, secret } from "#test/support/resilience/manifests";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";
import { FakeRealtime, usual } from "./fake-realtime.ts";
import {
  type ConnectOptions,
  connectRealtime,
  type RealtimeClient,
  type RefusedHandshake,
  refusedRealtime,
} from "./realtime-client.ts";

export interface RealtimeRigOptions {
  readonly upstreams?: number;
  /** All objects; unless given what `usualRealtime` says. */
  readonly objects?: (ports: readonly number[]) => readonly object[];
  readonly flags?: readonly string[];
}

export class RealtimeRig {
  readonly gateway: Gateway;
  readonly upstreams: readonly FakeRealtime[];
  readonly #clients: RealtimeClient[] = [];

  constructor(gateway: Gateway, upstreams: readonly FakeRealtime[]) {
    this.gateway = gateway;
    this.upstreams = upstreams;
  }

  get upstream(): FakeRealtime {
    const [first] = this.upstreams;
    if (first === undefined) throw new TypeError("this rig has no upstream");
    return first;
  }

  async connect(options: Omit<ConnectOptions, "port"> = {}): Promise<RealtimeClient> {
    const client = await connectRealtime({ ...options, port: this.gateway.port });
    this.#clients.push(client);
    return client;
  }

  /** Waits until the key `main` may use a model. */
  async waitUntilListed(model: string): Promise<void> {
    const headers = { authorization: `Bearer ${rawKey("main")}` };
    await waitFor(`${model} to be listed`, async () => {
      const reply = await fetch(`${this.gateway.origin}/v1/models/${model}`, { headers });
      return reply.ok;
    });
  }

  refused(options: Omit<ConnectOptions, "port"> = {}): Promise<RefusedHandshake> {
    return refusedRealtime({ ...options, port: this.gateway.port });
  }

  /** Waits until the access log has a line that satisfies the test. */
  logLine(what: string, test: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    return waitFor(what, () => this.gateway.accessLog.findLast(test));
  }

  /** Lines of responses and transcriptions, without those of sessions. */
  get responseLines(): Record<string, unknown>[] {
    return this.gateway.accessLog.filter(({ status, format }) => format === "Realtime" && status === 200);
  }

  /** The line of the next response that ends. */
  async nextResponseLine(): Promise<Record<string, unknown>> {
    const known = this.responseLines.length;
    await this.logLine("a response", () => this.responseLines.length > known);
    return this.responseLines.at(-1) ?? {};
  }

  /** Ends the clients, and waits until nothing is reserved any more; every reservation was settled once. */
  async settleDown(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.socket.terminate();
    const { gateway } = this;
    await waitFor("all sessions to end", async () => (await gateway.metric("tollgate_requests_in_flight")) === 0);
    await waitFor("all to be settled", async () => (await gateway.metric("tollgate_ledger_reservations_open")) === 0);
    const outcome = (name: string): Promise<number> =>
      gateway.metric("tollgate_ledger_outcomes_total", { outcome: name });
    const [settled, reserved] = [await outcome("settled"), await outcome("reserved")];
    if (settled !== reserved) throw new Error(`${reserved} reservations and ${settled} settlements`);
    for (const name of ["repeated", "late", "unknown", "expired"]) {
      if ((await outcome(name)) !== 0) throw new Error(`a settlement was ${name}`);
    }
  }

  async close(): Promise<void> {
    if (process.env["RIG_LOGS"] !== undefined) console.log(this.gateway.logs);
    for (const client of this.#clients) client.socket.terminate();
    await this.gateway.close();
    await Promise.all(this.upstreams.map((upstream) => upstream.close()));
  }
}

const capabilities = ["Realtime"];
/** Of `realtimeRoute`. */
export const realtimePrice = {
  inputPerMillion: "1",
  outputPerMillion: "2",
  audioInputPerMillion: "10",
  audioOutputPerMillion: "20",
};

/** A channel of the realtime protocol, whose provider has names of its own for the models. */
export function realtimeChannel(name: string, port: number, spec: object = {}): object {
  return channel(name, port, {
    formats: [{ type: "Realtime" }],
    models: [
      { name: "talk", upstreamName: "up-talk" },
      { name: "scribe", upstreamName: "up-scribe" },
    ],
    ...spec,
  });
}

export function realtimeRoute(model: string, channels: readonly string[], spec: object = {}): object {
  return route(model, channels, { capabilities, price: realtimePrice, ...spec });
}

/** A limit that is used up for good. */
export function lifetime(unit: string, limit: string): object {
  return { limits: [{ name: "all", unit, limit, period: "Lifetime", mode: "Enforce" }] };
}

/** A key `main`, a channel `c0`, `c1` ... for each upstream, and the routes `talk` and `scribe` to them. */
export function usualRealtime(ports: readonly number[]): readonly object[] {
  const names = ports.map((_, index) => `c${index}`);
  return [
    secret(),
    apiKey("main"),
    ...ports.map((port, index) => realtimeChannel(`c${index}`, port)),
    realtimeRoute("talk", names),
    realtimeRoute("scribe", names),
  ];
}

export async function startRealtimeRig(options: RealtimeRigOptions = {}): Promise<RealtimeRig> {
  const { upstreams: count = 1, objects = usualRealtime, flags = [] } = options;
  const upstreams = await Promise.all(Array.from({ length: count }, () => FakeRealtime.start()));
  let gateway: Gateway | undefined;
  try {
    gateway = await startGateway({
      manifests: { "all.yaml": manifest(...objects(upstreams.map(({ port }) => port))) },
      flags,
    });
    const rig = new RealtimeRig(gateway, upstreams);
    if (!flags.some((flag) => flag.startsWith("--tls-cert"))) await rig.waitUntilListed("talk");
    return rig;
  } catch (error) {
    await gateway?.close();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
    throw error;
  }
}

/** Starts a rig for the tests of one `describe`: it settles down and forgets its scripts after each, and ends with them. */
export function useRealtimeRig(options: RealtimeRigOptions, use: (rig: RealtimeRig) => void): void {
  let rig: RealtimeRig | undefined;
  before(async () => {
    rig = await startRealtimeRig(options);
    use(rig);
  });
  after(() => rig?.close());
  afterEach(async () => {
    await rig?.settleDown();
    for (const upstream of rig?.upstreams ?? []) {
      upstream.script = usual;
      upstream.isSilent = false;
      upstream.refusal = undefined;
    }
  });
}
