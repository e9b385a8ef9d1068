/**
 * The compiled state of a resource set, kept up to date change by change.
 *
 * Each object is compiled again only when it, something it refers to, or a rival for its digest or name changed, so
 * one key among 100,000 costs microseconds. The outcome depends on the set alone: any order of changes that leads to
 * the same set leads to the same objects and results. Called by `compile.ts` and by the operator's pipeline.
 */
import { EgressPolicy } from "../../proxy/snapshot/egress-policy.ts";
import type { Fleet, WireObject } from "../../proxy/snapshot/types.gen.ts";
import { resolveNamespaces } from "../resources/label-selector.ts";
import { publicNamesOf } from "../resources/model-route.ts";
import { ReferenceIndex, referenceKey, referencesOf } from "../resources/reference-index.ts";
import type { AnyResource, OwnKind, ResourceChange, ResourceKind, ResourceSet } from "../resources/resource.ts";
import { compileAccount } from "./compile-account.ts";
import { compileApiKey, resolveCredentials, wantedSecretsOf } from "./compile-api-key.ts";
import { compileChannel } from "./compile-channel.ts";
import { compileModelRoute } from "./compile-model-route.ts";
import { CompiledState, type PassChanges } from "./compiled-state.ts";
import { type QuotaScope, withoutHardChannel, withoutHardQuotas, withoutHardRoute } from "./limits/hard-quotas.ts";
import { type Reach, wholeReach } from "./reach.ts";
import { assignNames, Claims, type NameClaim, winnerAmong } from "./resolve-conflicts.ts";
import type { ObjectResult, WantedSecret } from "./result.ts";

/** Settings of the fleet that the wire carries (DESIGN.md section 8). */
export type CompileSettings = Omit<Fleet, "kind" | "name">;

/** What a pass changed. */
export interface CompileChanges {
  readonly upserts: ReadonlyMap<string, WireObject>;
  readonly removes: ReadonlySet<string>;
  /** Results that differ from before; undefined: the resource is gone. */
  readonly results: ReadonlyMap<string, ObjectResult | undefined>;
  /** Accounts that keys joined or left and channels that routes did, by `resultId`. */
  readonly counted: ReadonlySet<string>;
}

const idPrefixes: { readonly [kind in OwnKind]: string } = {
  ApiKey: "key",
  Channel: "channel",
  ModelRoute: "route",
  Account: "account",
};

/** The id of a resource's result, which is that of its first wire object. */
export function resultId(kind: OwnKind, namespace: string, name: string): string {
  return `${idPrefixes[kind]}/${namespace}/${name}`;
}

interface Dirty {
  readonly ApiKey: Set<string>;
  readonly Channel: Set<string>;
  readonly ModelRoute: Set<string>;
  readonly Account: Set<string>;
}

export class Compilation {
  readonly #resources: ResourceSet;
  readonly #settings: CompileSettings;
  readonly #quotaScope: QuotaScope;
  readonly #makesKeys: boolean;
  readonly #reach: Reach;
  readonly #egress: EgressPolicy;
  readonly #state: CompiledState;
  readonly #wanted = new Map<string, readonly WantedSecret[]>();
  readonly #references = new ReferenceIndex();
  readonly #digests = new Claims();
  readonly #names = new Claims();

  /**
   * @param quotaScope where the proxies count; see `limits/hard-quotas.ts`
   * @param makesKeys whether somebody makes the Secrets that `generate` credentials ask for
   */
  constructor(
    resources: ResourceSet,
    settings: CompileSettings,
    quotaScope: QuotaScope = "Exact",
    makesKeys = true,
    reach = wholeReach,
  ) {
    this.#quotaScope = quotaScope;
    this.#makesKeys = makesKeys;
    this.#reach = reach;
    this.#resources = resources;
    this.#settings = settings;
    this.#egress = new EgressPolicy(settings.egressAllowCIDRs);
    this.#state = new CompiledState({ kind: "fleet", name: "fleet", ...settings });
  }

  /** All wire objects by id; a live view. */
  get objects(): ReadonlyMap<string, WireObject> {
    return this.#state.objects;
  }

  /** What is known of every resource, by `resultId`; a live view. */
  get results(): ReadonlyMap<string, ObjectResult> {
    return this.#state.results;
  }

  /** Holds another copy of an equal object from now on, so that one of the two can be let go. */
  adopt(id: string, copy: WireObject): void {
    this.#state.adopt(id, copy);
  }

  /** Whether the proxies cannot know of this version yet: the pass that made it has not ended. */
  isUnderWay(wireId: string): boolean {
    return this.#state.isUnderWay(wireId);
  }

  /** What the last pass changed is on its way to the proxies. */
  endPass(): void {
    this.#state.endPass();
  }

  /** How many resources of a kind there are. */
  countOf(kind: OwnKind): number {
    return this.#state.counts[kind];
  }

  /** Secrets that `generate` credentials wait for; the caller has them created once. */
  wantedSecrets(): WantedSecret[] {
    return [...this.#wanted.values()].flat();
  }

  /** How many routes refer to a channel. */
  attachedRoutes(namespace: string, name: string): number {
    let count = 0;
    for (const dependent of this.#references.dependentsOf(referenceKey("Channel", namespace, name))) {
      if (dependent.startsWith("ModelRoute/")) count += 1;
    }
    return count;
  }

  /** The keys of an account, by `resultId`. */
  *keysOf(namespace: string, account: string): Generator<string> {
    for (const dependent of this.#references.dependentsOf(referenceKey("Account", namespace, account))) {
      const [kind, identity] = splitKey(dependent);
      if (kind === "ApiKey") yield `key/${identity}`;
    }
  }

  /** Brings everything in line with the resources as they are now. */
  update(changes: Iterable<ResourceChange>): CompileChanges {
    const steps = this.updateInSteps(changes);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /**
   * The same as `update`, pausing after every object: whoever drives it decides when to give way to others. What
   * changes in the resources meanwhile must come in a later update; one update at a time.
   */
  *updateInSteps(changes: Iterable<ResourceChange>): Generator<void, CompileChanges> {
    const pass = this.#state.beginPass();
    const dirty: Dirty = { ApiKey: new Set(), Channel: new Set(), ModelRoute: new Set(), Account: new Set() };
    for (const change of changes) {
      this.#markChange(change, dirty, pass);
      yield;
    }
    for (const identity of dirty.Account) {
      this.#compileAccount(identity, dirty, pass);
      yield;
    }
    for (const identity of dirty.Channel) {
      this.#compileChannel(identity, dirty, pass);
      yield;
    }
    yield* this.#compileKeys(dirty.ApiKey, pass);
    yield* this.#compileRoutes(dirty.ModelRoute, pass);
    return pass;
  }

  #markChange({ kind, namespace, name }: ResourceChange, dirty: Dirty, pass: PassChanges): void {
    const key = referenceKey(kind, namespace, name);
    if (kind === "Namespace") {
      for (const identity of this.#resources.modelRoutes.keys()) dirty.ModelRoute.add(identity);
      return;
    }
    const resource = this.#find(kind, `${namespace}/${name}`);
    const before = this.#references.referencesOf(key);
    const references = resource ? referencesOf(resource) : [];
    this.#references.set(key, references);
    for (const reference of before) if (!references.includes(reference)) noteCounted(reference, pass);
    for (const reference of references) if (!before.includes(reference)) noteCounted(reference, pass);
    if (kind === "Secret" || kind === "ConfigMap") this.#markDependents(key, dirty);
    else dirty[kind].add(`${namespace}/${name}`);
    if (kind === "ModelRoute") this.#markDependents(key, dirty);
  }

  /** Everything that depends on an object, and in turn on that. */
  #markDependents(key: string, dirty: Dirty): void {
    for (const dependent of this.#references.dependentsOf(key)) {
      const [kind, identity] = splitKey(dependent);
      if (dirty[kind].has(identity)) continue;
      dirty[kind].add(identity);
      // Routes hold nothing of a key and only whether a channel is served, which compiling it tells.
      if (kind === "ModelRoute") this.#markDependents(dependent, dirty);
    }
  }

  #find(kind: ResourceKind, identity: string): AnyResource | undefined {
    switch (kind) {
      case "ApiKey":
        return this.#resources.apiKeys.get(identity);
      case "Channel":
        return this.#resources.channels.get(identity);
      case "ModelRoute":
        return this.#resources.modelRoutes.get(identity);
      case "Account":
        return this.#resources.accounts.get(identity);
      default:
        return undefined;
    }
  }

  #compileAccount(identity: string, dirty: Dirty, pass: PassChanges): void {
    const account = this.#resources.accounts.get(identity);
    const compiled = account && withoutHardQuotas(compileAccount(account), this.#quotaScope);
    const wasServed = this.#state.objects.has(`account/${identity}`);
    this.#state.put(`account/${identity}`, compiled?.object, pass);
    this.#state.putResult(`account/${identity}`, compiled?.result, pass);
    // Keys depend on no more of an account than its being there: a top-up must not compile all of them again.
    if (wasServed !== (compiled?.object !== undefined)) this.#markDependents(`Account/${identity}`, dirty);
  }

  #compileChannel(identity: string, dirty: Dirty, pass: PassChanges): void {
    const channel = this.#resources.channels.get(identity);
    const before = this.#state.results.get(`channel/${identity}`);
    const compiled =
      channel && withoutHardChannel(compileChannel(channel, this.#resources, this.#egress), this.#quotaScope);
    const objects = new Map(
      (compiled?.objects ?? []).map((object, index) => [compiled?.result.wireIds[index] ?? "", object]),
    );
    for (const id of before?.wireIds ?? []) if (!objects.has(id)) this.#state.put(id, undefined, pass);
    for (const [id, object] of objects) this.#state.put(id, object, pass);
    this.#state.putResult(`channel/${identity}`, compiled?.result, pass);
    this.#markDependents(`Channel/${identity}`, dirty);
  }

  *#compileKeys(identities: ReadonlySet<string>, pass: PassChanges): Generator<void, void> {
    const rivals = new Set<string>();
    // Claims first: whether a key owns its digest is known only when all have said theirs.
    for (const identity of identities) {
      const key = this.#resources.apiKeys.get(identity);
      const digests = new Set<string>();
      if (key)
        for (const { sha256 } of resolveCredentials(key, this.#resources.secrets, this.#makesKeys))
          if (sha256) digests.add(sha256);
      // Also when the digests stay: a key made anew under its name is younger, and another may own them now.
      const touched = [...this.#digests.set(identity, [...digests]), ...this.#digests.tokensOf(identity)];
      for (const digest of new Set(touched)) {
        for (const rival of this.#digests.claimantsOf(digest)) if (!identities.has(rival)) rivals.add(rival);
      }
      yield;
    }
    for (const affected of [identities, rivals]) {
      for (const identity of affected) {
        this.#compileKey(identity, pass);
        yield;
      }
    }
  }

  #compileKey(identity: string, pass: PassChanges): void {
    const id = `key/${identity}`;
    const key = this.#resources.apiKeys.get(identity);
    if (!key) {
      this.#wanted.delete(identity);
      this.#state.put(id, undefined, pass);
      this.#state.putResult(id, undefined, pass);
      return;
    }
    const credentials = resolveCredentials(key, this.#resources.secrets, this.#makesKeys);
    const winnerOf = (digest: string) => {
      const claimants = this.#digests.claimantsOf(digest);
      if (claimants.length <= 1) return claimants[0] ?? identity;
      return winnerAmong(claimants, (claimant) => this.#resources.apiKeys.get(claimant)?.metadata) ?? identity;
    };
    const isAccountServed = (account: string) => this.#state.objects.has(`account/${account}`);
    const compiled = withoutHardQuotas(
      compileApiKey(key, credentials, winnerOf, isAccountServed, this.#settings.requireAccount),
      this.#quotaScope,
    );
    const wanted = wantedSecretsOf(key, credentials);
    if (wanted.length > 0) this.#wanted.set(identity, wanted);
    else this.#wanted.delete(identity);
    this.#state.put(id, compiled.object, pass);
    this.#state.putResult(id, compiled.result, pass);
  }

  *#compileRoutes(identities: ReadonlySet<string>, pass: PassChanges): Generator<void, void> {
    const affected = new Set(identities);
    for (const identity of identities) {
      const route = this.#resources.modelRoutes.get(identity);
      // Also when the names stay: a route that becomes visible to more namespaces may meet a rival.
      const touched = [
        ...this.#names.set(identity, route ? publicNamesOf(route) : []),
        ...this.#names.tokensOf(identity),
      ];
      this.#addRivals(touched, affected);
    }
    const claims = [...affected].flatMap((identity) => this.#nameClaim(identity) ?? []);
    const verdicts = assignNames(claims);
    for (const identity of affected) {
      const route = this.#resources.modelRoutes.get(identity);
      const compiled =
        route &&
        withoutHardRoute(
          compileModelRoute(route, verdicts.get(identity), this.#visibleTo(identity), {
            routes: this.#resources.modelRoutes,
            channels: this.#resources.channels,
            namespaces: this.#resources.namespaces,
            reach: this.#reach,
            isChannelServed: (channel) => this.#state.objects.has(`channel/${channel}`),
          }),
          this.#quotaScope,
        );
      this.#state.put(`route/${identity}`, compiled?.object, pass);
      this.#state.putResult(`route/${identity}`, compiled?.result, pass);
      yield;
    }
  }

  /** All routes that share a name, or share one with a route that does: one that loses frees its names for another. */
  #addRivals(names: readonly string[], affected: Set<string>): void {
    const open = [...names];
    const seen = new Set(open);
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      for (const rival of this.#names.claimantsOf(name)) {
        affected.add(rival);
        for (const other of this.#names.tokensOf(rival)) {
          if (seen.has(other)) continue;
          seen.add(other);
          open.push(other);
        }
      }
    }
  }

  #nameClaim(identity: string): NameClaim | undefined {
    const route = this.#resources.modelRoutes.get(identity);
    const [model, ...aliases] = route ? publicNamesOf(route) : [];
    if (!route || model === undefined) return undefined;
    return { metadata: route.metadata, model, aliases, namespaces: this.#visibleTo(identity) };
  }

  #visibleTo(identity: string): string[] {
    const route = this.#resources.modelRoutes.get(identity);
    if (!route) return [];
    return resolveNamespaces(route.spec?.keySelector?.namespaces, route.metadata.namespace, this.#resources.namespaces);
  }
}

function noteCounted(reference: string, pass: PassChanges): void {
  if (!reference.startsWith("Account/") && !reference.startsWith("Channel/")) return;
  const [kind, identity] = splitKey(reference);
  pass.counted.add(`${idPrefixes[kind]}/${identity}`);
}

/** A dependent is always one of our own kinds: nothing else refers to anything. */
function splitKey(key: string): [OwnKind, string] {
  const slash = key.indexOf("/");
  const kind = key.slice(0, slash);
  const identity = key.slice(slash + 1);
  if (kind === "ApiKey" || kind === "Channel" || kind === "ModelRoute" || kind === "Account") return [kind, identity];
  throw new Error(`unexpected dependent ${key}`);
}
