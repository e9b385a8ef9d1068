/** A gateway with one or more upstreams of bare bytes behind it: what most resilience tests run against. */

import assert from "node:assert/strict";
import type { RawClient } from "#test/support/raw-client";
import { type Gateway, type GatewayOptions, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";
import { ByteUpstream } from "./byte-upstream.ts";
import { type Answer, type CallOptions, call, openCall } from "./call-gateway.ts";
import { apiKey, channel, manifest, route, secret } from "./manifests.ts";

export interface RigOptions {
  /** Number of upstreams; 1 unless given. */
  readonly upstreams?: number;
  /** All objects; unless given one key `main`, a channel `c0`, `c1` ... for each upstream and the route `echo` to them. */
  readonly objects?: (ports: readonly number[]) => readonly object[];
  readonly flags?: readonly string[];
  /** Waits until this key may call this model; `main` and `echo` unless given. */
  readonly served?: readonly [key: string, model: string];
  readonly gateway?: Partial<GatewayOptions>;
}

export class Rig {
  readonly gateway: Gateway;
  readonly upstreams: readonly ByteUpstream[];

  constructor(gateway: Gateway, upstreams: readonly ByteUpstream[]) {
    this.gateway = gateway;
    this.upstreams = upstreams;
  }

  /** The first upstream. */
  get upstream(): ByteUpstream {
    const [first] = this.upstreams;
    if (first === undefined) throw new TypeError("this rig has no upstream");
    return first;
  }

  get port(): number {
    return this.gateway.port;
  }

  /** One call to the route `echo` unless told otherwise. */
  call(
    options: Omit<CallOptions, "port" | "model"> & { readonly model?: string },
    deadlineMs?: number,
  ): Promise<Answer> {
    return call({ model: "echo", ...options, port: this.port }, deadlineMs);
  }

  open(options: Omit<CallOptions, "port" | "model"> & { readonly model?: string }): Promise<RawClient> {
    return openCall({ model: "echo", ...options, port: this.port });
  }

  /** Waits until the access log has a line that satisfies the test. */
  logLine(what: string, test: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    return waitFor(what, () => this.gateway.accessLog.findLast(test));
  }

  /** Waits until no request is in flight and nothing is reserved; every reservation was settled once. */
  async settleDown(): Promise<void> {
    const { gateway } = this;
    await waitFor("all requests to end", async () => (await gateway.metric("tollgate_requests_in_flight")) === 0);
    await waitFor("all to be settled", async () => (await gateway.metric("tollgate_ledger_reservations_open")) === 0);
    const outcome = (name: string): Promise<number> =>
      gateway.metric("tollgate_ledger_outcomes_total", { outcome: name });
    assert.equal(await outcome("settled"), await outcome("reserved"), "reservations that were not settled once");
    for (const name of ["repeated", "late", "unknown", "expired"]) assert.equal(await outcome(name), 0, name);
  }

  async close(): Promise<void> {
    if (process.env["RIG_LOGS"] !== undefined) console.log(this.gateway.logs);
    await this.gateway.close();
    await Promise.all(this.upstreams.map((upstream) => upstream.close()));
  }
}

/** Starts the program and waits until it serves. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const { upstreams: count = 1, objects = usualObjects, served = ["main", "echo"] } = options;
  const upstreams = await Promise.all(Array.from({ length: count }, () => ByteUpstream.start()));
  try {
    const gateway = await startGateway({
      manifests: { "all.yaml": manifest(...objects(upstreams.map((upstream) => upstream.port))) },
      flags: options.flags ?? [],
      ...options.gateway,
    });
    await gateway.waitUntilServed(`default/${served[0]}`, served[1]);
    return new Rig(gateway, upstreams);
  } catch (error) {
    await Promise.all(upstreams.map((upstream) => upstream.close()));
    throw error;
  }
}

export function usualObjects(ports: readonly number[]): readonly object[] {
  const names = ports.map((_, index) => `c${index}`);
  return [secret(), apiKey("main"), ...ports.map((port, index) => channel(`c${index}`, port)), route("echo", names)];
}
