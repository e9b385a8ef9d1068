/**
 * Counts published keys that end soon, for an alert before their callers get 401.
 *
 * The count is kept by change, so a scrape costs by the number of keys that end at all. A key ends at its `expiresAt`,
 * or when the last of its credentials ends.
 */
import { Gauge, type Registry } from "prom-client";
import type { Publisher } from "#operator/push/publisher";
import { isKeyId } from "#proxy/snapshot/object-id";
import type { Key } from "#proxy/snapshot/types.gen";

const soonMs = 7 * 24 * 3_600_000;

/** @returns a function that ends the counting */
export function registerKeyExpiry(
  registry: Registry,
  publisher: Pick<Publisher, "onPublish">,
  now: () => number = Date.now,
): () => void {
  const ends = new Map<string, number>();
  const gauge = new Gauge({
    name: "tollgate_keys_expiring",
    help: "Active keys that end within seven days, with no credential that lives longer.",
    registers: [registry],
    collect() {
      const nowMs = now();
      let count = 0;
      for (const endMs of ends.values()) if (endMs > nowMs && endMs <= nowMs + soonMs) count += 1;
      gauge.set(count);
    },
  });
  return publisher.onPublish(({ snapshot, changed }) => {
    for (const id of changed) {
      if (!isKeyId(id)) continue;
      const [, namespace = "", name = ""] = id.split("/");
      const key = snapshot.keyByName(namespace, name);
      const endMs = key === undefined ? undefined : endOf(key);
      if (endMs === undefined) ends.delete(id);
      else ends.set(id, endMs);
    }
  });
}

/** Milliseconds since the epoch. @returns undefined for a key that does not end, or does not serve anyway */
export function endOf(key: Pick<Key, "state" | "expiresAt" | "credentials">): number | undefined {
  if (key.state !== "Active") return undefined;
  const lives = key.credentials.map(({ notAfter }) => notAfter ?? Infinity);
  const end = Math.min(
    key.expiresAt ?? Infinity,
    // A key without credentials serves nobody, so nothing ends.
    lives.length === 0 ? Infinity : Math.max(...lives),
  );
  return Number.isFinite(end) ? end : undefined;
}
