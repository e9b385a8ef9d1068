/**
 * Calls the API server: get, list, watch, create, update, server-side apply. It knows none of our kinds.
 *
 * Usage: `const client = new ApiClient(await ClusterAccess.load({kubeconfig}))`, then for example
 * `client.create(tokenReviewResource, {spec: {token, audiences}})` or `client.apply(resource, object, {fieldManager,
 * subresource: "status"})`. One client serves the whole operator.
 *
 * Invariants: every call has a deadline and a bound on its response; a 401 makes it read its credentials again and try
 * once more; every failure is an `ApiError` whose text holds no token and no body. Nothing else is retried, because
 * only the caller knows whether a call may be repeated. Called by list-watch, the Lease, token reviews and the status
 * writer.
 */
import type { IncomingMessage } from "node:http";
import { type WatchEvent, watchEvents } from "#operator/kubernetes/watch/watch-events";
import { ApiError } from "./api-error.ts";
import {
  type ApiList,
  type ApiObject,
  type ApiResource,
  isApiObject,
  isRecord,
  pathOf,
  readList,
} from "./api-object.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { CallDeadline } from "./deadline.ts";
import { type Call, describe, readText, refusal, sendCall } from "./send-call.ts";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** From the call to the last byte of the response; 15 s by default, 60 s for lists. */
  readonly timeoutMs?: number;
}

export interface ListOptions extends CallOptions {
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined;
  /** Objects a page; all at once without it. */
  readonly limit?: number;
  readonly continueToken?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  /** Events after this version; undefined together with `sendInitialEvents` only. */
  readonly resourceVersion?: string | undefined;
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number;
  /** Longest silence; bookmarks come about once a minute. */
  readonly idleMs: number;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** A streaming list: all objects as `ADDED`, then a bookmark that says so. */
  readonly sendInitialEvents?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Told the size of every piece read. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

export interface ApplyOptions extends CallOptions {
  /** The owner of the fields; fixed for each writer. */
  readonly fieldManager: string;
  readonly subresource?: "status";
  /** Takes fields over from other managers; true by default, as Kubernetes advises controllers. */
  readonly force?: boolean;
}

/** One finished call, for metrics. */
export interface CallRecord {
  readonly verb: Call["verb"];
  readonly resource: string;
  /** HTTP status, or the code of the `ApiError`. */
  readonly outcome: string;
  readonly durationMs: number;
}

export interface ApiClientOptions {
  readonly timeoutMs?: number;
  readonly listTimeoutMs?: number;
  /** The operator's name in the API server's audit log. */
  readonly userAgent?: string;
}

export class ApiClient {
  readonly access: ClusterAccess;
  readonly #hearers = new Set<() => void>();
  readonly #counters = new Set<(record: CallRecord) => void>();
  readonly #options: Required<Pick<ApiClientOptions, "timeoutMs" | "listTimeoutMs" | "userAgent">> & ApiClientOptions;

  constructor(access: ClusterAccess, options: ApiClientOptions = {}) {
    this.access = access;
    this.#options = { timeoutMs: 15_000, listTimeoutMs: 60_000, userAgent: "tollgate-operator", ...options };
  }

  /** Calls back at any sign of life of the API server: a response of whatever status, a byte of a watch. */
  onHeard(listener: () => void): () => void {
    this.#hearers.add(listener);
    return () => this.#hearers.delete(listener);
  }

  /** Calls back after each call, failed ones too. */
  onCall(listener: (record: CallRecord) => void): () => void {
    this.#counters.add(listener);
    return () => this.#counters.delete(listener);
  }

  #heard(): void {
    for (const listener of this.#hearers) listener();
  }

  /** @throws ApiError; status 404 when there is none */
  async get(resource: ApiResource, namespace: string | undefined, name: string, options: CallOptions = {}) {
    const path = pathOf(resource, namespace, name);
    return this.#object({ verb: "get", resource: resource.plural, method: "GET", path, ...this.#bounds(options) });
  }

  /** One page. @throws ApiError; status 410 when the continue token has expired */
  async list(resource: ApiResource, options: ListOptions = {}): Promise<ApiList> {
    const query = queryOf({
      limit: options.limit,
      continue: options.continueToken,
      fieldSelector: options.fieldSelector,
      labelSelector: options.labelSelector,
    });
    const path = `${pathOf(resource, options.namespace)}${query}`;
    const timeoutMs = options.timeoutMs ?? this.#options.listTimeoutMs;
    const { signal } = options;
    const value = await this.#json({ verb: "list", resource: resource.plural, method: "GET", path, timeoutMs, signal });
    const list = readList(value);
    if (list === undefined) throw new ApiError(`The list of ${resource.plural} is not a list.`, { code: "unreadable" });
    return list;
  }

  /**
   * Events until the server ends the watch.
   *
   * @throws ApiError: `refused` with 410 (also as an `ERROR` event) when the version is too old, `unreadable` for a line
   *   that is cut or no JSON, `unreachable` when the connection broke, `silent` after `idleMs` of silence
   */
  async *watch(resource: ApiResource, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    const query = queryOf({
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      fieldSelector: options.fieldSelector,
      labelSelector: options.labelSelector,
      ...(options.sendInitialEvents && { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }),
    });
    const call: Call = {
      verb: "watch",
      resource: resource.plural,
      method: "GET",
      path: `${pathOf(resource, options.namespace)}${query}`,
      timeoutMs: this.#options.timeoutMs,
      signal: options.signal,
    };
    const response = await this.#open(call);
    const onBytes = (count: number) => {
      this.#heard();
      options.onBytes?.(count);
    };
    yield* watchEvents(response, { idleMs: options.idleMs, signal: options.signal, onBytes });
  }

  /** @throws ApiError; status 409 and reason `AlreadyExists` when the name is taken */
  async create(resource: ApiResource, object: object, options: CallOptions & { namespace?: string } = {}) {
    const path = pathOf(resource, options.namespace);
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    return this.#value({
      verb: "create",
      resource: resource.plural,
      method: "POST",
      path,
      body,
      ...this.#bounds(options),
    });
  }

  /**
   * Replaces an object. `metadata.resourceVersion` is the precondition: give the one you read.
   *
   * @throws ApiError; status 409 and reason `Conflict` when somebody wrote in between
   */
  async update(resource: ApiResource, object: ApiObject, options: CallOptions & { subresource?: "status" } = {}) {
    const { namespace, name } = object.metadata;
    const path = pathOf(resource, namespace, name, options.subresource);
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    return this.#object({
      verb: "update",
      resource: resource.plural,
      method: "PUT",
      path,
      body,
      ...this.#bounds(options),
    });
  }

  /**
   * Server-side apply. With `metadata.uid` a recreated object is never touched, with `metadata.resourceVersion` one that
   * changed since is not.
   *
   * @throws ApiError when a precondition does not hold: status 409, but 422 for the uid of another object of that name
   */
  async apply(resource: ApiResource, object: ApiObject, options: ApplyOptions) {
    const { namespace, name } = object.metadata;
    const query = queryOf({ fieldManager: options.fieldManager, force: options.force ?? true });
    const path = `${pathOf(resource, namespace, name, options.subresource)}${query}`;
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    const contentType = "application/apply-patch+yaml";
    const { plural } = resource;
    return this.#object({
      verb: "apply",
      resource: plural,
      method: "PATCH",
      path,
      body,
      contentType,
      ...this.#bounds(options),
    });
  }

  /** Asks whether the API server is ready. @throws ApiError when it does not respond or is not ready */
  async probe(options: CallOptions = {}): Promise<void> {
    await this.#text({ verb: "probe", resource: "readyz", method: "GET", path: "/readyz", ...this.#bounds(options) });
  }

  #bounds({ timeoutMs, signal }: CallOptions): Pick<Call, "timeoutMs" | "signal"> {
    return { timeoutMs: timeoutMs ?? this.#options.timeoutMs, signal };
  }

  async #object(call: Call): Promise<ApiObject> {
    const value = await this.#json(call);
    if (!isApiObject(value))
      throw new ApiError(`The response to ${describe(call)} is not an object.`, { code: "unreadable" });
    return value;
  }

  /** Responses such as a TokenReview have no name. */
  async #value(call: Call): Promise<Readonly<Record<string, unknown>>> {
    const value = await this.#json(call);
    if (!isRecord(value))
      throw new ApiError(`The response to ${describe(call)} is not an object.`, { code: "unreadable" });
    return value;
  }

  async #json(call: Call): Promise<unknown> {
    const text = await this.#text(call);
    try {
      return JSON.parse(text);
    } catch {
      // The parser's message would quote the body, which may be a Secret.
      throw new ApiError(`The response to ${describe(call)} is not JSON.`, { code: "unreadable" });
    }
  }

  async #text(call: Call): Promise<string> {
    using deadline = new CallDeadline(call.timeoutMs, call.signal);
    const response = await this.#open({ ...call, signal: deadline.signal }, deadline);
    return await readText(response, call, deadline);
  }

  /** The response once its head is there and good. A 401 is tried once more, with credentials read again. */
  async #open(call: Call, deadline?: CallDeadline): Promise<IncomingMessage> {
    const begunAtMs = performance.now();
    const tell = (outcome: string) => {
      const { verb, resource } = call;
      const record = { verb, resource, outcome, durationMs: performance.now() - begunAtMs };
      for (const listener of this.#counters) listener(record);
    };
    try {
      let response = await this.#send(call, deadline);
      if (response.statusCode === 401) {
        response.resume();
        this.access.forget();
        response = await this.#send(call, deadline);
      }
      const { statusCode = 0 } = response;
      tell(String(statusCode));
      if (statusCode >= 200 && statusCode < 300) return response;
      throw refusal(call, response, await readText(response, call, deadline).catch(() => ""));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code !== "refused") {
        tell(error.code);
        this.access.dropIdleConnections();
      }
      throw error;
    }
  }

  async #send(call: Call, deadline: CallDeadline | undefined): Promise<IncomingMessage> {
    const response = await sendCall(this.access, call, this.#options.userAgent, deadline);
    this.#heard();
    return response;
  }
}

function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
