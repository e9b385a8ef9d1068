/**
 * Defines the contract of an endpoint: where it is served, how a request to it is read, and how it is served.
 *
 * `endpoints.ts` is the list of all of them. It feeds the path table, the text of `unknown_url`, the labels of
 * metrics, the operator's list of "not there yet", and the reference page. `handle-request.ts` decides the order of
 * the stages.
 */
import type { Claims } from "#proxy/admit/claims";
import type { Estimate } from "#proxy/admit/estimate-cost";
import type { AdmittedCall, AuthorizedCall, Caller } from "#proxy/dispatch/admitted-call";
import type { CallSettlement, SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { ModelCall } from "#proxy/formats/model-call";
import type { RawHeaders } from "#proxy/http1/wire/header-values";
import type { ProxyLimits } from "#proxy/limits";
import type { Form } from "#proxy/multipart/form";
import type { Protocol } from "#proxy/neutral/wire";
import type { MetricFormat } from "#proxy/observe/metrics";
import type { FormatDialect, OtherWay } from "#proxy/route/select-target";
import type { Capability, Route, WireFormat } from "#proxy/snapshot/types.gen";

/** What a request line means; each endpoint adds what it reads of the path. */
export interface Match {
  readonly protocol: Protocol;
}

interface Served<M extends Match> {
  readonly name: string;
  /** What key and route must allow. */
  readonly capability: Capability;
  /** Formats of a channel (`spec.formats`) that serve it; empty: no channel is asked. */
  readonly channelFormats: readonly WireFormat[];
  /** Of these, those that vendors give different shapes: whose shapes are spoken, the client's own first. */
  readonly channelDialects?: Readonly<Partial<Record<WireFormat, readonly FormatDialect[]>>>;
  /** As of `ServedCall`, for the explanation of calls. */
  readonly instead?: OtherWay;
  /**
   * Formats of channels for a client's format and one model of an upstream, where their order depends on it: for the
   * explanation of calls; those of the reference page when absent.
   */
  formatsOf?(client: WireFormat, upstreamModel: string): readonly WireFormat[];
  readonly paths: readonly EndpointPath<M>[];
  /** The label under which metrics and the access log have its requests. */
  metricFormat(match: M): MetricFormat;
  /** Refuses keys where only this endpoint's clients put them, and says why. @throws GatewayError 401 */
  refuseCredentials?(headers: RawHeaders): void;
}

/** An endpoint that has a model called: its body is read, and what the call needs is reserved. */
export interface ModelEndpoint<M extends Match = Match, Call extends ModelCall = ModelCall> extends Served<M> {
  /** Holds the rules of a route against the parameters of a call. @throws GatewayError */
  checkParameters(call: Call, route: Route): void;
  /** What to reserve. */
  need(authorized: AuthorizedCall<Call>, claims: Claims): Estimate | Promise<Estimate>;
  /** How the call is settled, once it has its reservation. */
  settlement(context: SettlementContext<Call>): CallSettlement;
  /** Serves the call and settles it. @throws GatewayError when nothing has gone to the client yet */
  serve(admitted: AdmittedCall<Call>): Promise<void>;
}

/** A model is called with JSON. */
export interface CallEndpoint<M extends Match = Match, Call extends ModelCall = ModelCall>
  extends ModelEndpoint<M, Call> {
  readonly body: "json";
  /** @throws GatewayError for a body that is none of the format */
  read(bytes: Buffer, match: M, limits: ProxyLimits): Call | Promise<Call>;
}

/** A model is called with a form (`multipart/form-data`), since files come with the call. */
export interface FormEndpoint<M extends Match = Match, Call extends ModelCall = ModelCall>
  extends ModelEndpoint<M, Call> {
  readonly body: "form";
  /** Names of which a form may have several parts; those that end in `[]` may always repeat. */
  readonly repeatedParts: ReadonlySet<string>;
  /**
   * The files stay readable until the call is over.
   * @throws GatewayError as `CallEndpoint.read`
   */
  readForm(form: Form, match: M, limits: ProxyLimits): Call | Promise<Call>;
  /** For clients that send JSON instead, with files by URL or as text; absent where none does. */
  read?(bytes: Buffer, match: M, limits: ProxyLimits): Call | Promise<Call>;
}

/** A call is passed on as it is: its body may be of any type, or empty. */
export interface OpaqueEndpoint<M extends Match = Match, Call extends ModelCall = ModelCall>
  extends ModelEndpoint<M, Call> {
  readonly body: "any";
  /** @throws GatewayError as `CallEndpoint.read` */
  read(bytes: Buffer, match: M, limits: ProxyLimits): Call | Promise<Call>;
}

/** An endpoint without a body: it reads what is asked from the head, and reserves what it needs itself. */
export interface PlainEndpoint<M extends Match = Match> extends Served<M> {
  /** `upgrade`: its connections go on as WebSockets. */
  readonly body: "none" | "upgrade";
  /** @throws GatewayError when nothing has gone to the client yet */
  serve(caller: Caller, match: M): Promise<void> | void;
}

/** An endpoint whose calls pass all stages of the pipeline. */
export type BodyEndpoint<M extends Match = Match> = CallEndpoint<M> | FormEndpoint<M> | OpaqueEndpoint<M>;

export type Endpoint<M extends Match = Match> = BodyEndpoint<M> | PlainEndpoint<M>;

export type EndpointPath<M extends Match> =
  | FixedPath<M>
  | SocketPath<M>
  | ItemPathRule<M>
  | VerbPath<M>
  | ModelPaths<M>
  | RestPath<M>;

/** POST to one path. */
export interface FixedPath<M> {
  readonly kind: "fixed";
  /** As the interface documents it. */
  readonly path: string;
  /** How official clients spell it from other base addresses: with the version left out or doubled. */
  readonly otherSpellings: readonly string[];
  readonly match: M;
  /** What a client is told that asks for a WebSocket; undefined: that its method is not allowed. */
  readonly webSocketRefusal?: string;
}

/** A WebSocket at one path: GET with `Upgrade`. */
export interface SocketPath<M> {
  readonly kind: "socket";
  /** As the interface documents it. */
  readonly path: string;
  readonly otherSpellings: readonly string[];
  readonly match: M;
}

/** Things with an id in their path. */
export interface ItemPathRule<M> {
  readonly kind: "item";
  /** As the interface documents it, with `{id}`. */
  readonly path: string;
  /** The whole path; its first group is the id. */
  readonly pattern: RegExp;
  readonly methods: Readonly<Partial<Record<"GET" | "DELETE", (id: string) => M>>>;
}

/** Every path behind a name, which the endpoint itself holds against what is allowed. */
export interface RestPath<M> {
  readonly kind: "rest";
  /** As the documentation has it, with `{model}` and `{path}`. */
  readonly path: string;
  /** The whole path; its groups are the name and the rest, which begins with a slash. */
  readonly pattern: RegExp;
  readonly methods: readonly string[];
  /** @throws GatewayError `bad_request_target` for a rest that is no plain path */
  readonly match: (method: string, model: string, rest: string, rawUrl: string) => M;
}

/** POST to `/models/{model}:verb` of Gemini-style paths. */
export interface VerbPath<M> {
  readonly kind: "verb";
  readonly verb: string;
  /** @param modelInPath decoded, without a `models/` prefix */
  readonly match: (modelInPath: string, rawUrl: string) => M;
}

/** GET of `/models` and `/models/{model}`, whose protocol may be told by the headers alone. */
export interface ModelPaths<M> {
  readonly kind: "models";
  readonly list: (protocol: Protocol) => M;
  readonly one: (protocol: Protocol, modelInPath: string) => M;
}
