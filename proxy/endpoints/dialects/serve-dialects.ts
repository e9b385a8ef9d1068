/** Serves an admitted call that is no chat: in the dialect of each channel that is tried. */
import { setImmediate as otherWork } from "node:timers/promises";
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import type { ClientWriter } from "#proxy/dispatch/client-writer";
import { LargeBodyWork, readBytesOfByte, writtenBytesOfByte } from "#proxy/dispatch/large-body-work";
import { type CallServing, type PreparedCall, serveCall } from "#proxy/dispatch/serve-call";
import { servedNowhere } from "#proxy/dispatch/served-nowhere";
import { GatewayError, requireGatewayError } from "#proxy/errors";
import type { UpstreamPlan } from "#proxy/formats/format";
import type { ModelCall } from "#proxy/formats/model-call";
import { membersNamed, unsupportedNames } from "#proxy/parameters/member-rules";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { type SelectedTarget, type SelectionRequest, selectTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import type { TokenUsage } from "#proxy/settle/usage";
import type { Channel } from "#proxy/snapshot/types.gen";
import { droppedLabel } from "#proxy/translate/dropped-fields";
import type { EstimateMissingUsage } from "#proxy/upstream/attempt-options";
import { noAvailableChannel } from "#proxy/upstream/describe-outcome";
import type { Repeats } from "#proxy/upstream/repeated-attempt";
import { buildWrittenRequest, type WrittenRequest } from "#proxy/upstream/request/build-upstream-request";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import type { Dialect, Dialects, FurtherRequests } from "./dialect.ts";

/** @throws GatewayError when no target replied; nothing has gone to the client then */
export function serveDialects<Call extends ModelCall>(
  admitted: AdmittedCall<Call>,
  dialects: Dialects<Call>,
  writer: ClientWriter,
): Promise<void> {
  return serveCall(admitted, new DialectServing(admitted, dialects, writer));
}

interface PreparedDialect extends PreparedCall {
  /** As of `Dialect.missingUsage`. */
  readonly missingUsage: (() => Promise<TokenUsage>) | undefined;
}

class DialectServing<Call extends ModelCall> implements CallServing<PreparedDialect> {
  readonly writer: ClientWriter;
  readonly #admitted: AdmittedCall<Call>;
  readonly #dialects: Dialects<Call>;
  readonly #work: LargeBodyWork;
  /** Of the conversion for another target, whose place the next one takes. */
  #writtenBytes = 0;

  constructor(admitted: AdmittedCall<Call>, dialects: Dialects<Call>, writer: ClientWriter) {
    this.#admitted = admitted;
    this.#dialects = dialects;
    this.#work = new LargeBodyWork(admitted);
    this.writer = writer;
  }

  release(): void {
    this.#work.release();
  }

  select(tried: AttemptHistory): SelectedTarget | undefined {
    const { route, call, snapshot, services } = this.#admitted;
    return selectTarget({
      route,
      model: call.model,
      capability: call.endpoint.capability,
      formats: this.#dialects.formatsFor(call),
      snapshot,
      tried,
      formatsOn: this.#formatsOn(),
      random: services.random,
    });
  }

  #formatsOn(): SelectionRequest["formatsOn"] {
    const { route, call } = this.#admitted;
    const dialects = this.#dialects;
    if (dialects.formatsOf === undefined) return undefined;
    return (target, channel) =>
      dialects.formatsOf?.(call, upstreamModelOf({ route, target, channel }, call.model)) ?? dialects.formatsFor(call);
  }

  /** A promise only where a large body is converted. */
  prepare(selected: SelectedTarget): PreparedDialect | GatewayError | Promise<PreparedDialect | GatewayError> {
    const isLarge = this.#work.isLarge(this.#work.bodyBytes);
    if (isLarge && this.#isConverted(selected)) return this.#prepareLarge(selected).catch(requireGatewayError);
    return this.#prepare(selected);
  }

  /** Whether the channel has another format than the client, or a vendor's own shape of that. */
  #isConverted({ format, path, dialect }: SelectedTarget): boolean {
    const { call } = this.#admitted;
    if (format !== call.endpoint.format) return true;
    const { dialectOf } = this.#dialects;
    return dialect !== undefined && dialectOf(call, { format, path, dialect }) !== dialectOf(call, { format, path });
  }

  #prepare(selected: SelectedTarget): PreparedDialect | GatewayError {
    const { call } = this.#admitted;
    const dialect = this.#dialects.dialectOf(call, selected);
    return prepareInDialect(this.#admitted, dialect, selected, { namesIn: this.#namesIn(call) });
  }

  /** As of chat (`AttemptPreparation`): in its turn, and counted with what is read and written of it. */
  async #prepareLarge(selected: SelectedTarget): Promise<PreparedDialect | GatewayError> {
    const { bodyBytes } = this.#work;
    this.#work.release(this.#writtenBytes);
    this.#writtenBytes = 0;
    const keptBytes = bodyBytes * (readBytesOfByte + writtenBytesOfByte);
    return await this.#work.inTurn(bodyBytes, keptBytes, async () => {
      this.#writtenBytes = keptBytes;
      await otherWork();
      return this.#prepare(selected);
    });
  }

  #namesIn(call: Call): ((name: string) => readonly string[]) | undefined {
    const { namesIn } = this.#dialects;
    return namesIn === undefined ? undefined : (name) => namesIn(call, name);
  }

  estimateMissingUsage({ missingUsage }: PreparedDialect): EstimateMissingUsage | undefined {
    if (missingUsage === undefined) return undefined;
    return async (usage) => (usage === undefined ? await missingUsage() : undefined);
  }

  noTarget(): GatewayError {
    const formats = this.#dialects.formatsFor(this.#admitted.call);
    return servedNowhere(this.#admitted, formats) ?? noAvailableChannel();
  }
}

export interface DialectOptions {
  /** As of `UpstreamPlan`. */
  readonly outputCap?: number | undefined;
  /** As of `Dialects.namesIn`; members of the body when absent. */
  readonly namesIn?: ((name: string) => readonly string[]) | undefined;
}

/**
 * Prepares the request to one target in its dialect.
 * @returns why this target must not get the call: known before anything is reserved on its channel
 */
export function prepareInDialect<Call extends ModelCall>(
  admitted: AdmittedCall<Call>,
  dialect: Dialect<Call>,
  selected: SelectedTarget,
  options: DialectOptions = {},
): PreparedDialect | GatewayError {
  try {
    return prepare(admitted, dialect, selected, options);
  } catch (error) {
    return requireGatewayError(error);
  }
}

function prepare<Call extends ModelCall>(
  { call, route, services, passedHeaders }: AdmittedCall<Call>,
  dialect: Dialect<Call>,
  selected: SelectedTarget,
  { outputCap, namesIn }: DialectOptions,
): PreparedDialect {
  const { channel, target } = selected;
  refuseUpstreamObjects(call, selected);
  const { members, dropped } = unsupportedNames(namesIn ?? membersNamed(call.body), route, channel);
  const plan: UpstreamPlan = {
    channel,
    upstreamModel: upstreamModelOf({ channel, target, route }, call.model),
    targetRules: target.parameters,
    outputCap,
    unsupported: members,
  };
  const written = dialect.write(call, plan);
  const requestOf = (one: WrittenRequest): UpstreamRequest =>
    buildWrittenRequest(one, call.stream, { ...selected, route }, plan.upstreamModel, {
      clientHeaders: passedHeaders,
      limits: services.limits,
    });
  const request = requestOf(written);
  const repeats = repeatsOf(written.further, requestOf, channel);
  const all = dropped.length === 0 ? written.dropped : [...new Set([...dropped, ...written.dropped])];
  const { format } = call.endpoint;
  for (const field of all) services.metrics.parameterDropped(format, droppedLabel(format, field));
  const missingUsage = dialect.missingUsage?.(call, services);
  const requests = 1 + (repeats?.further.length ?? 0);
  return { request, requests, repeats, reader: dialect.reader(call, plan), dropped: all, missingUsage };
}

/** Requests of one call that run side by side. */
const atOnceMax = 4;

/** A channel that bounds its calls in flight has room for this one alone. */
function repeatsOf(
  further: FurtherRequests | undefined,
  requestOf: (one: WrittenRequest) => UpstreamRequest,
  { maxInFlight }: Channel,
): Repeats | undefined {
  if (further === undefined) return undefined;
  const { requests, reply } = further;
  return { further: requests.map(requestOf), atOnceMax: maxInFlight === undefined ? atOnceMax : 1, reply };
}

/** Objects of an upstream account may belong to another tenant of it: refused unless the channel shares them. */
function refuseUpstreamObjects({ upstreamObjects }: ModelCall, { channel }: SelectedTarget): void {
  const [param] = upstreamObjects;
  if (param === undefined || channel.upstreamObjects === "Shared") return;
  throw new GatewayError(
    "unsupported_parameter",
    `'${param}' refers to an object that is kept by the provider, which is not supported for this model. Send the content itself.`,
    { param },
  );
}
