/**
 * The operator's own ServiceAccount as the owner of what the operators make: the cluster removes that with it, so that an
 * uninstalled release leaves nothing behind. Its name and uid stand in the token that the kubelet gives to the pod.
 */
import { readFile } from "node:fs/promises";
import { isRecord } from "../kubernetes/api-object.ts";

/** As in `metadata.ownerReferences`. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** @returns undefined where there is no such token, as outside of a pod: then what is made has no owner */
export async function readOwnAccount(tokenFile: string): Promise<OwnerReference | undefined> {
  try {
    return ownerOf(await readFile(tokenFile, "utf8"));
  } catch {
    // No file, or no token in it.
    return undefined;
  }
}

/** @throws when the text is no token */
function ownerOf(token: string): OwnerReference | undefined {
  const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  const bound = isRecord(claims) ? claims["kubernetes.io"] : undefined;
  const account = isRecord(bound) ? bound["serviceaccount"] : undefined;
  if (!isRecord(account)) return undefined;
  const { name, uid } = account;
  if (typeof name !== "string" || typeof uid !== "string") return undefined;
  return { apiVersion: "v1", kind: "ServiceAccount", name, uid };
}
