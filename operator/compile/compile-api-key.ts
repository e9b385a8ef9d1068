/**
 * Compiles an ApiKey into its wire object (docs/design/configuration.md 2.1).
 *
 * When in doubt it denies: a key, or a credential of it, that cannot be understood or resolved stays off the wire. Only
 * digests leave the operator.
 */
import { createHash } from "node:crypto";
import { parseTimestampMs, SpecError } from "#operator/resources/amounts";
import { clientKeyPattern, defaultSecretKey, secretOfCredential } from "#operator/resources/api-key";
import type { Verdict } from "#operator/resources/reasons";
import type { ApiKeyResource, ObjectMeta, ResourceSet, SecretResource } from "#operator/resources/resource";
import type { ApiKeySpec, ApiKeyCredential as KeyCredentialSpec } from "#operator/resources/types.gen";
import type { Key, KeyCredential } from "#proxy/snapshot/types.gen";
import { compileLimits, requireCIDRs, shareList } from "./limits/compile-limits.ts";
import { type KeyCredentialFact, type KeyResult, partiallyValid, refused, resolved, valid } from "./result.ts";

/** Finalizers named in a message; the rest are counted. */
const finalizersNamedMax = 5;

/** A credential whose secret was looked up. */
export interface ResolvedCredential {
  readonly spec: KeyCredentialSpec;
  readonly sha256?: string;
  readonly displayPrefix?: string;
  readonly secretResourceVersion?: string;
  /** The cause when there is no digest. */
  readonly failure?: Verdict<"ResolvedRefs">;
  /** The credential waits for the Secret that the operator creates. */
  readonly isWanted?: true;
}

/**
 * Finds the digest of every credential of a key. A key that is being deleted has none, so that another key may use them.
 *
 * @param makesKeys whether the operator makes the Secrets that `generate` credentials ask for
 */
export function resolveCredentials(
  key: ApiKeyResource,
  secrets: ResourceSet["secrets"],
  makesKeys: boolean,
): ResolvedCredential[] {
  if (key.metadata.isDeleting) return [];
  return (key.spec?.credentials ?? []).map((spec) => resolveCredential(spec, key.metadata, secrets, makesKeys));
}

function resolveCredential(
  spec: KeyCredentialSpec,
  metadata: ObjectMeta,
  secrets: ResourceSet["secrets"],
  makesKeys: boolean,
): ResolvedCredential {
  const { namespace } = metadata;
  if (spec.sha256 !== undefined) return { spec, sha256: spec.sha256 };
  const location = secretOfCredential(spec);
  const at = `Credential ${spec.name}:`;
  if (!location) return { spec, failure: refused("InvalidSecret", `${at} give secretKeyRef, sha256 or generate.`) };
  const secret = secrets.get(`${namespace}/${location.name}`);
  if (!secret) {
    if (spec.generate && !makesKeys) {
      const message = `${at} Secret ${location.name} does not exist, and this installation generates no keys; create it, or turn key generation on.`;
      return { spec, failure: refused("SecretNotFound", message) };
    }
    if (spec.generate) {
      const message = `${at} Secret ${location.name} is being created.`;
      return { spec, failure: { status: "Unknown", reason: "Pending", message }, isWanted: true };
    }
    const message = `${at} Secret ${location.name} does not exist in namespace ${namespace}; create it.`;
    return { spec, failure: refused("SecretNotFound", message) };
  }
  const failure = spec.generate && failureOfOwner(secret, metadata, at);
  if (failure) return { spec, failure };
  const value = secret.data.get(location.key);
  if (value === undefined) {
    const missing = `${at} Secret ${location.name} has no key ${location.key}`;
    const message = spec.generate
      ? `${missing} and is not overwritten; add the key, or delete the Secret to have it generated.`
      : `${missing}; add it or name another in secretKeyRef.key.`;
    return { spec, failure: refused("SecretKeyNotFound", message) };
  }
  if (!clientKeyPattern.test(value)) {
    const message = `${at} the value of ${location.key} in Secret ${location.name} must be sk- and at least 20 letters, digits, - or _ (no line end).`;
    return { spec, failure: refused("InvalidSecret", message) };
  }
  return {
    spec,
    sha256: createHash("sha256").update(value).digest("hex"),
    displayPrefix: `${value.slice(0, 7)}...`,
    ...(secret.metadata.resourceVersion !== undefined && { secretResourceVersion: secret.metadata.resourceVersion }),
  };
}

/**
 * Refuses a Secret that belongs to another ApiKey, even to a former one of the same name. In a cluster the garbage collector
 * deletes it with its owner, and a key handed out from it would stop working. In a folder it stays, and callers that got
 * the key of one ApiKey would hold the key of the other.
 */
function failureOfOwner(
  { metadata, origin }: SecretResource,
  { name, uid }: ObjectMeta,
  at: string,
): Verdict<"ResolvedRefs"> | undefined {
  const { owner } = metadata;
  if (owner === undefined) return undefined;
  if (owner.name !== name) {
    const isLeft = owner.uid === undefined && origin !== undefined;
    const remedy = isLeft ? `, or remove ${origin.file} when that key is no longer needed` : "";
    const message = `${at} Secret ${metadata.name} belongs to ApiKey ${owner.name}; name another in generate.secretName${remedy}.`;
    return refused("InvalidSecret", message);
  }
  if (owner.uid === undefined || uid === undefined || owner.uid === uid) return undefined;
  const message = `${at} Secret ${metadata.name} belongs to a former ApiKey of this name and is not used; wait until the garbage collector has deleted it.`;
  return { status: "Unknown", reason: "Pending", message };
}

export interface CompiledKey {
  /** Absent: the key is denied. */
  readonly object?: Key;
  readonly result: KeyResult;
}

/**
 * @param winnerOf identity of the key that owns a digest, where several claim it
 * @param isAccountServed whether an Account of that identity is on the wire: a key must never lose its ceiling
 */
export function compileApiKey(
  key: ApiKeyResource,
  credentials: readonly ResolvedCredential[],
  winnerOf: (sha256: string) => string,
  isAccountServed: (identity: string) => boolean,
  requireAccount: boolean,
): CompiledKey {
  const { namespace, name, generation } = key.metadata;
  const id = `key/${namespace}/${name}`;
  const base = { id, kind: "ApiKey", namespace, name, generation } as const;
  const { spec } = key;
  // A deleted key is revoked: finalizers may hold the object, but must not keep the key valid.
  if (!spec || key.invalid !== undefined || key.metadata.isDeleting) {
    const why = key.metadata.isDeleting
      ? deletingMessage(key.metadata)
      : `${key.invalid ?? "The manifest is not valid."} The key is denied until it is corrected.`;
    const accepted = refused("Invalid", why);
    const facts = { state: "Active", accountRequired: false, credentials: [] } as const;
    return { result: { ...base, ...facts, accepted, resolvedRefs: resolved, wireIds: [] } };
  }
  const judged = judgeCredentials(`${namespace}/${name}`, credentials, winnerOf);
  const missingAccount =
    spec.accountRef && !isAccountServed(`${namespace}/${spec.accountRef.name}`) ? spec.accountRef.name : undefined;
  let accepted = judged.accepted;
  let object: Key | undefined;
  try {
    object = keyObject(key, spec, judged.usable);
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    accepted = refused("Invalid", `${error.message}. The key is denied until it is corrected.`);
  }
  const isServed = object !== undefined && judged.usable.length > 0 && missingAccount === undefined;
  const result: KeyResult = {
    ...base,
    accepted,
    resolvedRefs: missingAccount === undefined ? judged.resolvedRefs : accountNotFound(missingAccount, namespace),
    wireIds: isServed ? [id] : [],
    state: spec.state ?? "Active",
    ...(object?.expiresAt !== undefined && { expiresAtMs: object.expiresAt }),
    ...(spec.accountRef && { account: spec.accountRef.name }),
    accountRequired: requireAccount && !spec.accountRef,
    credentials: judged.facts,
  };
  return isServed && object ? { object, result } : { result };
}

function deletingMessage({ finalizers = [] }: ObjectMeta): string {
  const denied = "The ApiKey is being deleted and is denied from now on";
  if (finalizers.length === 0) return `${denied}.`;
  const others = finalizers.length - finalizersNamedMax;
  const named = finalizers.slice(0, finalizersNamedMax).join(", ");
  return `${denied}. It is gone once its finalizers are removed: ${named}${others > 0 ? ` and ${others} more` : ""}.`;
}

function accountNotFound(name: string, namespace: string): Verdict<"ResolvedRefs"> {
  const message = `Account ${name} does not exist in namespace ${namespace} or is not valid; create or correct it. The key is denied until then.`;
  return refused("AccountNotFound", message);
}

interface JudgedCredentials {
  readonly usable: readonly ResolvedCredential[];
  readonly facts: readonly KeyCredentialFact[];
  readonly accepted: Verdict<"Accepted">;
  readonly resolvedRefs: Verdict<"ResolvedRefs">;
}

/** Decides which credentials are served. A credential that fails is named and does not affect the others. */
function judgeCredentials(
  identity: string,
  credentials: readonly ResolvedCredential[],
  winnerOf: (sha256: string) => string,
): JudgedCredentials {
  const usable: ResolvedCredential[] = [];
  const facts: KeyCredentialFact[] = [];
  const failures: Verdict<"ResolvedRefs">[] = [];
  const conflicts: string[] = [];
  const ownNames = new Map<string, string>();
  for (const credential of credentials) {
    const { sha256, failure, spec } = credential;
    let conflict: string | undefined;
    if (sha256 !== undefined) {
      const winner = winnerOf(sha256);
      const twin = ownNames.get(sha256);
      if (winner !== identity) {
        conflict = `Credential ${spec.name} has the same key as ApiKey ${winner}, which came first; give it another key.`;
      } else if (twin !== undefined) {
        conflict = `Credential ${spec.name} has the same key as credential ${twin}; give it another key.`;
      } else ownNames.set(sha256, spec.name);
    }
    if (failure) failures.push(failure);
    if (conflict !== undefined) conflicts.push(conflict);
    const isUsable = sha256 !== undefined && conflict === undefined;
    if (isUsable) usable.push(credential);
    facts.push(factOf(credential, isUsable));
  }
  const problems = [...conflicts, ...failures.map(({ message }) => message)];
  let accepted = valid;
  if (problems.length > 0 && usable.length > 0) accepted = partiallyValid(problems);
  else if (conflicts.length > 0) accepted = refused("Conflicted", conflicts.join(" "));
  // A copy takes no spare room, and 100,000 keys keep theirs.
  return { usable, facts: [...facts], accepted, resolvedRefs: worstOf(failures) };
}

/** A definite failure takes precedence over a pending one; the message names them all. */
function worstOf(failures: readonly Verdict<"ResolvedRefs">[]): Verdict<"ResolvedRefs"> {
  const worst = failures.find(({ status }) => status === "False") ?? failures[0];
  return worst ? { ...worst, message: failures.map(({ message }) => message).join(" ") } : resolved;
}

function factOf(credential: ResolvedCredential, usable: boolean): KeyCredentialFact {
  const { spec, sha256, displayPrefix, secretResourceVersion } = credential;
  return {
    name: spec.name,
    ...(sha256 !== undefined && { fingerprint: sha256.slice(0, 12) }),
    ...(displayPrefix !== undefined && { displayPrefix }),
    ...(secretResourceVersion !== undefined && { secretResourceVersion }),
    ...(spec.notBefore !== undefined && { notBeforeMs: Date.parse(spec.notBefore) }),
    ...(spec.notAfter !== undefined && { notAfterMs: Date.parse(spec.notAfter) }),
    usable,
  };
}

/** @throws SpecError when a restriction cannot be enforced as written. */
function keyObject(key: ApiKeyResource, spec: ApiKeySpec, usable: readonly ResolvedCredential[]): Key {
  const { labels } = key.metadata;
  return {
    kind: "key",
    namespace: key.metadata.namespace,
    name: key.metadata.name,
    state: spec.state ?? "Active",
    ...(spec.expiresAt !== undefined && { expiresAt: parseTimestampMs(spec.expiresAt, "spec.expiresAt") }),
    ...(spec.accountRef && { account: spec.accountRef.name }),
    ...(Object.keys(labels).length > 0 && { labels: { ...labels } }),
    credentials: usable.map(({ spec: credential, sha256 = "" }) => credentialObject(credential, sha256)),
    ...(spec.models?.allow && { modelsAllow: shareList(spec.models.allow) }),
    ...(spec.models?.deny && { modelsDeny: shareList(spec.models.deny) }),
    ...(spec.clientCIDRs?.allow && { cidrsAllow: requireCIDRs(spec.clientCIDRs.allow, "spec.clientCIDRs.allow") }),
    ...(spec.clientCIDRs?.deny && { cidrsDeny: requireCIDRs(spec.clientCIDRs.deny, "spec.clientCIDRs.deny") }),
    ...(spec.protocols && { protocols: [...spec.protocols] }),
    ...(spec.capabilities && { capabilities: [...spec.capabilities] }),
    ...(spec.limits && { limits: compileLimits(spec.limits, "spec.limits") }),
    ...(spec.concurrency?.maxInFlight !== undefined && { maxInFlight: spec.concurrency.maxInFlight }),
    ...(spec.metadata && { metadata: { ...spec.metadata } }),
  };
}

function credentialObject({ name, notBefore, notAfter }: KeyCredentialSpec, sha256: string): KeyCredential {
  const field = `spec.credentials[${name}]`;
  return {
    name,
    sha256,
    ...(notBefore !== undefined && { notBefore: parseTimestampMs(notBefore, `${field}.notBefore`) }),
    ...(notAfter !== undefined && { notAfter: parseTimestampMs(notAfter, `${field}.notAfter`) }),
  };
}

/** The Secrets that a key's `generate` credentials still wait for. */
export function wantedSecretsOf(key: ApiKeyResource, credentials: readonly ResolvedCredential[]) {
  return credentials.flatMap(({ spec, isWanted }) =>
    isWanted && spec.generate
      ? [
          {
            namespace: key.metadata.namespace,
            secretName: spec.generate.secretName,
            key: defaultSecretKey,
            prefix: spec.generate.prefix ?? "sk-",
            ownerName: key.metadata.name,
            credential: spec.name,
          },
        ]
      : [],
  );
}
