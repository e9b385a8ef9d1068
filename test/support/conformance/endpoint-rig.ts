/**
 * A gateway with an upstream of its own and a spare one, and a client that calls it: the stage of the tests of an endpoint
 * that is no chat. A test file says what stands there (its channels, routes and further keys) and what is its own.
 */
import { after, afterEach, before } from "mocha";
import type { ProxyLimits } from "#proxy/limits";
import type { AccessRecord } from "#proxy/observe/access-log";
import { FakeUpstream, type Script } from "#test/support/fake-upstream";
import { type HttpAnswer, httpCall } from "./http-call.ts";
import { InProcessGateway } from "./in-process-gateway.ts";
import { channelSecretManifest, clientKey, keyManifest, manifestOf } from "./manifests.ts";

export interface EndpointStage {
  /** Of a call that names none. */
  readonly path: string;
  /** Replies of both upstreams, before each test again; `{}` when absent. */
  readonly reply?: Script;
  readonly limits?: Partial<ProxyLimits>;
  /** Objects beside the Secret of all channels and the key `k`. @param origin and `spare`: of the upstreams, without a path */
  manifests(origin: string, spare: string): readonly object[];
}

export interface CallOptions {
  readonly key?: string;
  readonly path?: string;
}

interface Running {
  readonly gateway: InProcessGateway;
  readonly upstream: FakeUpstream;
  readonly spare: FakeUpstream;
}

export class EndpointRig {
  readonly #stage: EndpointStage;
  #running: Running | undefined;

  constructor(stage: EndpointStage) {
    this.#stage = stage;
  }

  get gateway(): InProcessGateway {
    return this.#started.gateway;
  }

  get upstream(): FakeUpstream {
    return this.#started.upstream;
  }

  get spare(): FakeUpstream {
    return this.#started.spare;
  }

  /** A call of an OpenAI-style client. @param body an object, or JSON text where its spelling matters */
  call(body: object | string, { key = "k", path = this.#stage.path }: CallOptions = {}): Promise<HttpAnswer> {
    return httpCall({
      origin: this.gateway.origin,
      path,
      headers: { authorization: `Bearer ${clientKey(key)}` },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  /** What the proxy reported of the call, once it has. */
  recordOf(answer: HttpAnswer): Promise<AccessRecord> {
    return this.gateway.recordOf(String(answer.header("x-request-id")));
  }

  async start(): Promise<void> {
    const { reply, limits, manifests } = this.#stage;
    const upstream = await FakeUpstream.start(reply);
    const spare = await FakeUpstream.start(reply);
    const objects = [channelSecretManifest(), keyManifest("k"), ...manifests(upstream.origin, spare.origin)];
    const gateway = await InProcessGateway.start({ manifests: manifestOf(...objects), ...(limits && { limits }) });
    this.#running = { gateway, upstream, spare };
  }

  forget(): void {
    for (const upstream of [this.upstream, this.spare]) {
      upstream.forget();
      if (this.#stage.reply !== undefined) upstream.replyWith(this.#stage.reply);
    }
  }

  async close(): Promise<void> {
    await this.#running?.gateway.close();
    await this.#running?.upstream.close();
    await this.#running?.spare.close();
  }

  get #started(): Running {
    if (this.#running === undefined) throw new Error("the rig is started before the first test");
    return this.#running;
  }
}

/** Starts all of it before the tests of the enclosing `describe`. */
export function useEndpointRig(stage: EndpointStage): EndpointRig {
  const rig = new EndpointRig(stage);
  before(() => rig.start());
  afterEach(() => rig.forget());
  after(() => rig.close());
  return rig;
}
