/**
 * Fields that the schema has and the proxies do not act on yet: an object that uses one says so in `Accepted`, with
 * what happens instead, so that no status promises what is not done. Whoever builds one deletes its row. Pure.
 *
 * The defaults of the schema use none of them. `failover.retryAfter` is missing because its default says the same as
 * whoever writes it; its description says that it is not there yet.
 */
import type { ChannelSpec, ModelRouteSpec } from "#operator/resources/types.gen";
import { servedCapabilities, servedFormats } from "./served.gen.ts";

interface UnservedField<Spec> {
  /** The field as the spec uses it; undefined when it does not. */
  readonly used: (spec: Spec) => string | undefined;
  /** What happens instead. */
  readonly instead: string;
}

/** What holds only for callers of a route itself, and an internal one has none. */
const callersFields = ["failover", "timeouts", "keySelector", "limits", "parameters", "price"] as const;

/** Members of calls that are lists: of what stands in them there may be many. */
const intoList = /^(?:messages|input|contents|tools|system)\./;

const noRuleInSessions = "no rule is held against the messages of a session";

const channelFields: readonly UnservedField<ChannelSpec>[] = [
  {
    used: ({ concurrency }) => ((concurrency?.maxQueue ?? 0) > 0 ? "spec.concurrency.maxQueue" : undefined),
    instead: "no call waits for a place, a full channel is passed by",
  },
  {
    used: ({ health }) => health?.passive && "spec.health.passive",
    instead: "no credential is left out for its failures before",
  },
  { used: ({ health }) => health?.active && "spec.health.active", instead: "no probe is sent" },
  {
    used: ({ formats }) =>
      listed(
        "spec.formats",
        formats?.filter(({ type }) => !servedFormats.has(type)).map(({ type }) => type),
      ),
    instead: "no endpoint uses it",
  },
];

/** Of the spec as it is written: who names no formats is not told what holds for one of them. */
const writtenChannelFields: readonly UnservedField<ChannelSpec>[] = [
  {
    used: ({ formats, body }) =>
      isUsed(body) && formats?.some(({ type }) => type === "Realtime") ? "spec.body with Realtime" : undefined,
    instead: noRuleInSessions,
  },
];

const routeFields: readonly UnservedField<ModelRouteSpec>[] = [
  {
    used: ({ capabilities }) =>
      listed(
        "spec.capabilities",
        capabilities?.filter((name) => !servedCapabilities.has(name)),
      ),
    instead: "no endpoint serves it",
  },
  {
    used: ({ parameters }) =>
      listed(
        "spec.parameters",
        parameters?.filter(({ name }) => intoList.test(name)).map(({ name }) => name),
      ),
    instead: "no rule is held against what stands in a list",
  },
  {
    used: ({ capabilities, parameters, targets }) =>
      capabilities?.includes("Realtime")
        ? listed("spec.capabilities Realtime with", [
            ...(isUsed(parameters) ? ["spec.parameters"] : []),
            ...(targets?.some((target) => isUsed(target.parameters)) ? ["spec.targets[].parameters"] : []),
          ])
        : undefined,
    instead: noRuleInSessions,
  },
  {
    used: ({ strategy = "Weighted" }) => (strategy === "Weighted" ? undefined : `spec.strategy ${strategy}`),
    instead: "targets are chosen by weight",
  },
  { used: ({ failover }) => failover?.backoff && "spec.failover.backoff", instead: "the next attempt begins at once" },
  {
    used: (spec) =>
      spec.visibility === "Internal"
        ? listed(
            "spec.visibility Internal with",
            callersFields.filter((field) => spec[field] !== undefined),
          )
        : undefined,
    instead: "of a route that others refer to only the targets count",
  },
];

/**
 * A sentence for each field of a channel that is used in vain.
 * @param written as in the manifest @param formats those that are served, also where the manifest names none
 */
export function unservedByChannels(written: ChannelSpec, formats: NonNullable<ChannelSpec["formats"]>): string[] {
  return [...sentences(channelFields, { ...written, formats }), ...sentences(writtenChannelFields, written)];
}

/** A sentence for each field of a route that is used in vain. */
export function unservedByRoutes(spec: ModelRouteSpec): string[] {
  return sentences(routeFields, spec);
}

function sentences<Spec>(fields: readonly UnservedField<Spec>[], spec: Spec): string[] {
  return fields.flatMap(({ used, instead }) => {
    const field = used(spec);
    return field === undefined ? [] : [`${field}: not there yet, ${instead}.`];
  });
}

/** Of a list: a message must stay short whatever the spec. */
const namedMax = 6;

function listed(field: string, names: readonly string[] = []): string | undefined {
  if (names.length === 0) return undefined;
  const more = names.length - namedMax;
  return `${field} ${names.slice(0, namedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function isUsed(rules: object | undefined): boolean {
  return rules !== undefined && Object.keys(rules).length > 0;
}
