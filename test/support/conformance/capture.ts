/** The gateway in this process before an upstream that keeps what it is sent. */
import assert from "node:assert/strict";
import { after, before } from "mocha";
import { FakeUpstream, type ReceivedRequest } from "#test/support/fake-upstream";
import type { ChatCallForm } from "./chat-calls.ts";
import { type HttpAnswer, httpCall } from "./http-call.ts";
import { InProcessGateway, type InProcessOptions } from "./in-process-gateway.ts";
import { channelSecretManifest, manifestOf } from "./manifests.ts";
import { naturalReply } from "./natural-replies.ts";

export interface CaptureCall {
  readonly form: ChatCallForm;
  /** Public model name: the route's. */
  readonly model: string;
  readonly stream?: boolean;
  /** Members set over the smallest body, or the whole body as text. */
  readonly body?: object | string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly path?: string;
  /** `main` unless given. */
  readonly key?: string;
}

export interface Captured {
  readonly answer: HttpAnswer;
  /** What the upstream got; undefined when nothing was sent. */
  readonly received: ReceivedRequest | undefined;
}

export class Capture {
  readonly gateway: InProcessGateway;
  readonly upstream: FakeUpstream;

  constructor(gateway: InProcessGateway, upstream: FakeUpstream) {
    this.gateway = gateway;
    this.upstream = upstream;
  }

  async send(call: CaptureCall): Promise<Captured> {
    const { form, model, stream = false, body = {} } = call;
    const isRaw = typeof body === "string" || Buffer.isBuffer(body);
    this.upstream.forget();
    const answer = await httpCall({
      origin: this.gateway.origin,
      path: call.path ?? form.path(model, stream),
      headers: { ...form.headers(call.key ?? "main"), ...call.headers },
      body: isRaw ? body : JSON.stringify({ ...form.body(model, stream), ...body }),
    });
    assert.equal(this.upstream.requests.length <= 1, true, "one call is at most one call upstream");
    return { answer, received: this.upstream.requests[0] };
  }

  /** The body that went upstream, parsed. @throws AssertionError when the call was not served */
  async forwarded(call: CaptureCall): Promise<Readonly<Record<string, unknown>>> {
    const { answer, received } = await this.send(call);
    assert.equal(answer.status, 200, answer.body.toString());
    return Object(received?.json());
  }
}

/**
 * Starts both before the tests of the enclosing `describe`.
 * @param objects manifests besides the channels' Secret
 */
export function useCapture(
  objects: (origin: string) => readonly object[],
  options: Omit<InProcessOptions, "manifests"> = {},
): () => Capture {
  let capture: Capture | undefined;
  before(async () => {
    const upstream = await FakeUpstream.start(naturalReply);
    try {
      const manifests = manifestOf(channelSecretManifest(), ...objects(upstream.origin));
      capture = new Capture(await InProcessGateway.start({ manifests, ...options }), upstream);
    } catch (error) {
      // An open port would keep the test process alive for ever.
      await upstream.close();
      throw error;
    }
  });
  after(async () => {
    await capture?.gateway.close();
    await capture?.upstream.close();
  });
  return () => capture ?? assert.fail("the gateway has not been started");
}
