/**
 * Checks the references between the objects of a set, and names the field of each problem.
 *
 * The API server does not check references; in a cluster, conditions report them (`ResolvedRefs`, `Conflicted`). The
 * compiler decides by the same rules but names objects only, and here a person needs the line. A Secret or ConfigMap
 * that is not in the set is only a warning, because people keep them out of Git on purpose. Pure; called by `tollgate
 * validate`.
 */
import { createHash } from "node:crypto";
import { clientKeyPattern } from "#operator/resources/api-key";
import type { ApiKey, Channel } from "#operator/resources/types.gen";
import { type FieldPath, makeProblem } from "#operator/schema/problem";
import type { KnownObject } from "#operator/schema/validate-resource";
import { checkRouteReferences } from "./check-route-references.ts";
import { indexObjects, type ObjectSet, type ReferenceProblem, type Report } from "./object-set.ts";

/** @param objects validated objects, of whichever files */
export function checkReferences(objects: readonly KnownObject[]): readonly ReferenceProblem[] {
  const found: ReferenceProblem[] = [];
  const report: Report = (object, path, message, severity = "error") => {
    found.push({ object, problem: makeProblem(path, "reference", message), severity });
  };
  const set = indexObjects(objects, report);
  const digests = new Map<string, string>();
  for (const object of objects.toSorted(compareByName)) {
    if (object.kind === "ApiKey") checkApiKey(object, set, digests, report);
    else if (object.kind === "Channel") checkChannel(object, set, report);
  }
  checkRouteReferences(set, report);
  return found;
}

/** The order of precedence among objects that claim the same (docs/design/configuration.md 1.2). */
function compareByName({ metadata: left }: KnownObject, { metadata: right }: KnownObject): number {
  const [leftName, rightName] = [`${left.namespace}/${left.name}`, `${right.namespace}/${right.name}`];
  return leftName < rightName ? -1 : leftName > rightName ? 1 : 0;
}

function checkApiKey(key: ApiKey, set: ObjectSet, digests: Map<string, string>, report: Report): void {
  const { namespace, name } = key.metadata;
  const account = key.spec.accountRef?.name;
  if (account !== undefined && !set.accounts.has(`${namespace}/${account}`)) {
    report(
      key,
      ["spec", "accountRef", "name"],
      `no Account ${account} in namespace ${namespace}: create it or name another`,
    );
  }
  for (const [index, { secretKeyRef, sha256 }] of key.spec.credentials.entries()) {
    const path = ["spec", "credentials", index];
    let digest = sha256;
    if (secretKeyRef !== undefined) {
      const at = [...path, "secretKeyRef"];
      const value = readSecret(key, secretKeyRef, at, set, report);
      if (value === undefined) continue;
      if (!clientKeyPattern.test(value)) {
        report(
          key,
          [...at, "key"],
          `the value of ${secretKeyRef.key} in Secret ${secretKeyRef.name} is not a key: it must be sk- and at least 20 letters, digits, - or _, without a line end`,
        );
        continue;
      }
      digest = createHash("sha256").update(value).digest("hex");
    }
    if (digest === undefined) continue;
    const owner = digests.get(digest);
    if (owner !== undefined)
      report(key, path, `Duplicate value: the same key belongs to ${owner}: make another with \`tollgate key\``);
    else digests.set(digest, `ApiKey ${namespace}/${name}`);
  }
}

function checkChannel(channel: Channel, set: ObjectSet, report: Report): void {
  const { namespace } = channel.metadata;
  for (const [index, { secretKeyRef }] of (channel.spec.credentials ?? []).entries()) {
    const at = ["spec", "credentials", index, "secretKeyRef"];
    const value = readSecret(channel, secretKeyRef, at, set, report);
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value)) {
      report(
        channel,
        [...at, "key"],
        `the value of ${secretKeyRef.key} in Secret ${secretKeyRef.name} must be printable characters without spaces and without a line end`,
      );
    }
  }
  const { caBundleRef, clientCertificateRef } = channel.spec.tls ?? {};
  if (caBundleRef !== undefined) {
    const at = ["spec", "tls", "caBundleRef"];
    const bundle = set.configMaps.get(`${namespace}/${caBundleRef.name}`);
    if (bundle === undefined) {
      report(
        channel,
        [...at, "name"],
        `no ConfigMap ${caBundleRef.name} in namespace ${namespace} among these files`,
        "warning",
      );
    } else if (
      !Object.hasOwn(bundle.data ?? {}, caBundleRef.key) &&
      !Object.hasOwn(bundle.binaryData ?? {}, caBundleRef.key)
    ) {
      report(
        channel,
        [...at, "key"],
        `ConfigMap ${caBundleRef.name} has no entry ${caBundleRef.key}: add it or name another`,
      );
    }
  }
  if (clientCertificateRef !== undefined) {
    const at = ["spec", "tls", "clientCertificateRef"];
    for (const key of ["tls.crt", "tls.key"]) {
      if (readSecret(channel, { name: clientCertificateRef.name, key }, at, set, report) === undefined) break;
    }
  }
}

/** The value that a reference names; reports and returns undefined when there is none. Values never enter a message. */
function readSecret(
  object: ApiKey | Channel,
  reference: { readonly name: string; readonly key: string },
  path: FieldPath,
  set: ObjectSet,
  report: Report,
): string | undefined {
  const { namespace } = object.metadata;
  const identity = `${namespace}/${reference.name}`;
  const secret = set.secrets.get(identity);
  if (secret === undefined) {
    if (!set.generatedSecrets.has(identity)) {
      report(
        object,
        [...path, "name"],
        `no Secret ${reference.name} in namespace ${namespace} among these files`,
        "warning",
      );
    }
    return undefined;
  }
  const data = secret.data ?? {};
  const value = Object.hasOwn(data, reference.key) ? data[reference.key] : undefined;
  if (value === undefined) {
    report(object, [...path, "key"], `Secret ${reference.name} has no entry ${reference.key}: add it or name another`);
    return undefined;
  }
  return Buffer.from(value, "base64").toString("utf8");
}
