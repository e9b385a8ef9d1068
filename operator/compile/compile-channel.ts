/**
 * Compiles a Channel into wire objects: the channel and, apart from it, the secret of each credential
 * (docs/design/configuration.md 2.2).
 *
 * A channel whose requests would lack the credential that they need is left out altogether.
 */

import { SpecError } from "#operator/resources/amounts";
import type { Verdict } from "#operator/resources/reasons";
import { type ChannelResource, identityOf, type ResourceSet } from "#operator/resources/resource";
import type { ChannelSpec, WireFormat } from "#operator/resources/types.gen";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import type { Channel, Credential } from "#proxy/snapshot/types.gen";
import { isForbiddenURL, refuseURL } from "./egress-rules.ts";
import { compileHeaders, isFramingHeader } from "./header-rules.ts";
import { compileBodyRules, compileLimits, compileTimeouts } from "./limits/compile-limits.ts";
import { type Base, baseOf, choosePreset, formatOf } from "./providers/choose-preset.ts";
import type { Preset, PresetFormat } from "./providers/preset.ts";
import { resolveTls } from "./resolve-tls.ts";
import { type ChannelResult, partiallyValid, refused, resolved, valid } from "./result.ts";
import { servedFormats } from "./served.gen.ts";
import { unservedByChannels } from "./unserved-fields.ts";

export interface CompiledChannel {
  /** The channel first, then its credentials; empty: not served. */
  readonly objects: readonly (Channel | Credential)[];
  readonly result: ChannelResult;
}

type References = Pick<ResourceSet, "secrets" | "configMaps">;

export function compileChannel(
  channel: ChannelResource,
  references: References,
  policy: EgressPolicy,
): CompiledChannel {
  const { namespace, name, generation } = channel.metadata;
  const base = { id: `channel/${namespace}/${name}`, kind: "Channel", namespace, name, generation } as const;
  const { spec } = channel;
  const state = spec?.state ?? "Active";
  const modelCount = spec?.models?.length;
  const unserved = (reason: string): CompiledChannel => ({
    objects: [],
    result: {
      ...base,
      state,
      modelCount,
      refersToCertificates: false,
      credentials: [],
      accepted: refused("Invalid", reason),
      resolvedRefs: resolved,
      wireIds: [],
    },
  });
  if (!spec) return unserved(channel.invalid ?? "The manifest is not valid.");
  try {
    return servedChannel(channel, spec, choosePreset(spec), references, policy);
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    return unserved(`${error.message}.`);
  }
}

function servedChannel(
  channel: ChannelResource,
  spec: ChannelSpec,
  preset: Preset,
  references: References,
  policy: EgressPolicy,
): CompiledChannel {
  const { namespace, name, generation } = channel.metadata;
  const id = `channel/${namespace}/${name}`;
  const baseURL = baseURLOf(spec, preset);
  refuseEgress(spec, baseURL, policy);
  const auth = authOf(spec, preset);
  const headers = compileHeaders(spec.headers, auth.location === "Header" ? auth.name : "");
  const credentials = resolveCredentials(channel, spec, references.secrets);
  const tls = resolveTls(channel, spec, references);
  const failures = [...credentials.failures, ...tls.failures];
  const usable = credentials.objects.filter(({ name: own }) => stateOf(spec, own) === "Active");
  const needsCredential = preset.needsCredential || (spec.credentials ?? []).length > 0;
  const isServed = (usable.length > 0 || !needsCredential) && tls.failures.length === 0;
  const partial = [
    ...headers.problems,
    ...unservedByChannels(spec, wantedFormats(spec, preset)),
    ...(isServed ? credentials.failures.map(({ message }) => message) : []),
  ];
  const object = channelObject(channel, spec, { baseURL, auth, preset });
  object.credentials = (spec.credentials ?? [])
    .filter((own) => credentials.objects.some((found) => found.name === own.name))
    .map((own) => ({ name: own.name, weight: own.weight ?? 1, state: own.state ?? "Active" }));
  if (headers.set.length > 0) object.headersSet = headers.set;
  if (headers.remove.length > 0) object.headersRemove = headers.remove;
  if (tls.settings) object.tls = tls.settings;
  const objects = isServed ? [object, ...credentials.objects] : [];
  let accepted = partial.length > 0 ? partiallyValid(partial) : valid;
  if (channel.invalid !== undefined)
    accepted = refused("Invalid", `${channel.invalid} The previous version is served.`);
  const result: ChannelResult = {
    id,
    kind: "Channel",
    namespace,
    name,
    generation,
    accepted,
    resolvedRefs: refsVerdict(failures, isServed, needsCredential),
    wireIds: objects.map(wireIdOf),
    state: spec.state ?? "Active",
    baseURL,
    modelCount: spec.models?.length,
    refersToCertificates: (spec.tls?.caBundleRef ?? spec.tls?.clientCertificateRef) !== undefined,
    credentials: credentials.facts,
  };
  return { objects, result };
}

function wireIdOf(object: Channel | Credential): string {
  return object.kind === "channel"
    ? `channel/${object.namespace}/${object.name}`
    : `credential/${object.namespace}/${object.channel}/${object.name}`;
}

function refsVerdict(
  failures: readonly Verdict<"ResolvedRefs">[],
  isServed: boolean,
  needsCredential: boolean,
): Verdict<"ResolvedRefs"> {
  const [first] = failures;
  if (first) {
    const rest = isServed ? [] : ["The channel is left out of all routes until then."];
    return { ...first, message: [...failures.map(({ message }) => message), ...rest].join(" ") };
  }
  if (isServed || !needsCredential) return resolved;
  return refused(
    "SecretNotFound",
    "The channel has no active credential; add one to spec.credentials. It is left out of all routes until then.",
  );
}

function baseURLOf(spec: ChannelSpec, preset: Preset): string {
  const baseURL = spec.baseURL ?? preset.baseURL;
  if (baseURL === undefined) {
    throw new SpecError(`spec.baseURL: required for ${spec.preset ?? spec.provider}; give the address of the upstream`);
  }
  return baseURL.replace(/\/+$/, "");
}

/** With an egress proxy, connections go to the proxy; forbidden addresses stay forbidden behind it too. */
function refuseEgress(spec: ChannelSpec, baseURL: string, policy: EgressPolicy): void {
  const open = new EgressPolicy(["0.0.0.0/0", "::/0"]);
  const problem =
    spec.proxyURL === undefined
      ? refuseURL(baseURL, policy, "spec.baseURL")
      : (refuseURL(baseURL, open, "spec.baseURL") ?? refuseURL(spec.proxyURL, policy, "spec.proxyURL"));
  if (problem !== undefined || isForbiddenURL(baseURL, policy)) {
    throw new SpecError((problem ?? `spec.baseURL: ${baseURL} is never called.`).replace(/\.$/, ""));
  }
}

/** @throws SpecError for a header that must not carry a credential */
function authOf(spec: ChannelSpec, preset: Preset): Channel["auth"] {
  const { location, scheme } = spec.auth ?? {};
  if (location?.query !== undefined) return { location: "Query", name: location.query, scheme: scheme ?? "Raw" };
  if (location?.header === undefined) return { ...preset.auth, ...(scheme && { scheme }) };
  const name = location.header.toLowerCase();
  if (isFramingHeader(name)) {
    throw new SpecError(`spec.auth.location.header: ${location.header} belongs to one connection; use another header`);
  }
  return { location: "Header", name, scheme: scheme ?? (name === "authorization" ? "Bearer" : "Raw") };
}

function stateOf(spec: ChannelSpec, credential: string): "Active" | "Draining" | "Disabled" {
  return spec.credentials?.find(({ name }) => name === credential)?.state ?? "Active";
}

interface FoundCredentials {
  readonly objects: readonly Credential[];
  readonly failures: readonly Verdict<"ResolvedRefs">[];
  readonly facts: ChannelResult["credentials"];
}

/** A disabled credential is not read at all, because its secret must not reach a proxy. */
function resolveCredentials(
  channel: ChannelResource,
  spec: ChannelSpec,
  secrets: ResourceSet["secrets"],
): FoundCredentials {
  const { namespace, name: channelName } = channel.metadata;
  const objects: Credential[] = [];
  const failures: Verdict<"ResolvedRefs">[] = [];
  const facts: ChannelResult["credentials"][number][] = [];
  for (const { name, secretKeyRef, state = "Active" } of spec.credentials ?? []) {
    if (state === "Disabled") {
      facts.push({ name, state, resolved: true, reason: "Disabled" });
      continue;
    }
    const found = readSecret(
      namespace,
      secretKeyRef.name,
      secretKeyRef.key ?? "apiKey",
      `Credential ${name}:`,
      secrets,
    );
    if (typeof found === "string")
      objects.push({ kind: "credential", namespace, channel: channelName, name, secret: found });
    else failures.push(found);
    const version = secrets.get(identityOf({ namespace, name: secretKeyRef.name }))?.metadata.resourceVersion;
    facts.push({
      name,
      state,
      resolved: typeof found === "string",
      ...(version !== undefined && { secretResourceVersion: version }),
      reason: typeof found === "string" ? "Resolved" : found.reason,
    });
  }
  return { objects, failures, facts };
}

function readSecret(
  namespace: string,
  secretName: string,
  key: string,
  at: string,
  secrets: ResourceSet["secrets"],
): string | Verdict<"ResolvedRefs"> {
  const secret = secrets.get(identityOf({ namespace, name: secretName }));
  if (!secret) {
    return refused("SecretNotFound", `${at} Secret ${secretName} does not exist in namespace ${namespace}; create it.`);
  }
  const value = secret.data.get(key);
  if (value === undefined) {
    return refused(
      "SecretKeyNotFound",
      `${at} Secret ${secretName} has no key ${key}; add it or name another in secretKeyRef.key.`,
    );
  }
  if (!/^[\x21-\x7e]{1,8192}$/.test(value)) {
    return refused(
      "InvalidSecret",
      `${at} the value of ${key} in Secret ${secretName} must be 1 to 8192 printable ASCII characters (no blanks, no line end).`,
    );
  }
  return value;
}

interface Decided {
  readonly baseURL: string;
  readonly auth: Channel["auth"];
  readonly preset: Preset;
}

function channelObject(channel: ChannelResource, spec: ChannelSpec, { baseURL, auth, preset }: Decided): Channel {
  const body = compileBodyRules(spec.body);
  const base = baseOf(preset, baseURL);
  return {
    kind: "channel",
    namespace: channel.metadata.namespace,
    name: channel.metadata.name,
    state: spec.state ?? "Active",
    provider: preset.provider,
    ...(preset.quirks && { quirks: preset.quirks }),
    baseURL: base.baseURL,
    formats: formatsOf(spec, preset, base),
    auth,
    credentials: [],
    ...(spec.models && {
      models: spec.models.map(({ name, upstreamName, capabilities, traits }) => ({
        name,
        ...(upstreamName !== undefined && { upstreamName }),
        ...(capabilities && { capabilities: [...capabilities] }),
        ...(traits && { traits: { ...traits } }),
      })),
    }),
    ...(body && { body }),
    privacy: {
      store: spec.privacy?.store ?? "PassThrough",
      safetyIdentifier: spec.privacy?.safetyIdentifier ?? "Strip",
      streamObfuscation: spec.privacy?.streamObfuscation ?? "Strip",
      clientMetadata: spec.privacy?.clientMetadata ?? "Forward",
    },
    unsupportedParameters: spec.unsupportedParameters ?? "Ignore",
    upstreamObjects: spec.upstreamObjects ?? "Refuse",
    timeouts: compileTimeouts(spec.timeouts, "spec.timeouts"),
    ...(spec.limits && { limits: compileLimits(spec.limits, "spec.limits") }),
    ...(spec.concurrency?.maxInFlight !== undefined && { maxInFlight: spec.concurrency.maxInFlight }),
    ...(spec.proxyURL !== undefined && { proxyURL: spec.proxyURL }),
  };
}

/** Dialects that a format has anyway; a proxy takes them for granted. */
const usualDialects: { readonly [format in WireFormat]?: PresetFormat["dialect"] } = {
  Embeddings: "OpenAI",
  Rerank: "Jina",
};

/**
 * What the channel lists, else what its preset speaks. Of the latter only what an endpoint serves: nobody asked for the
 * rest, and a status that named it would be of no help. A preset of which nothing is served is told like a list.
 */
function wantedFormats(spec: ChannelSpec, preset: Preset): NonNullable<ChannelSpec["formats"]> {
  if (spec.formats?.length) return spec.formats;
  const served = preset.formats.filter(({ type }) => servedFormats.has(type));
  return (served.length > 0 ? served : preset.formats).map(({ type }) => ({ type }));
}

function formatsOf(spec: ChannelSpec, preset: Preset, { baseURL, version }: Base): Channel["formats"] {
  const formats: Channel["formats"] = [];
  for (const { type, path: own, paths, dialect: ownDialect } of wantedFormats(spec, preset)) {
    const known = formatOf(preset, type, baseURL, spec.azure?.apiVersion);
    const path = own === undefined ? known?.path : version + own;
    if (type === "Passthrough") {
      for (const one of paths ?? [own ?? "/"]) formats.push({ type, path: version + one });
    } else if (path !== undefined) {
      const dialect = ownDialect ?? known?.dialect;
      formats.push({ type, path, ...(dialect !== undefined && dialect !== usualDialects[type] && { dialect }) });
    } else {
      const where = spec.preset ?? spec.provider;
      throw new SpecError(`spec.formats[${type}].path: required, because ${where} has no usual path for it`);
    }
  }
  if (formats.length === 0 || formats.length > 32) throw new SpecError("spec.formats: give 1 to 32 formats and paths");
  return formats;
}
