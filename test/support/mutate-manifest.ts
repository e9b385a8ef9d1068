/** Random changes to manifests, the same for the same seed: what people get wrong, and some things nobody would. */
import { isJsonObject } from "#operator/schema/check-structure";

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const replacements: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1,
  5,
  1.5,
  1e15,
  99_999_999,
  "",
  "*",
  "a",
  "A_b",
  "gpt-*",
  "*x*",
  "sk-abc",
  "10.0.0.0/8",
  "10.0.0.0/08",
  "::ffff:10.0.0.0/104",
  "::1/64",
  "fe80::1%eth0/64",
  "2026-02-30T00:00:00Z",
  "2026-12-31T00:00:00Z",
  "2026-12-31T23:59:60Z",
  "5s",
  "1h30m",
  "9G",
  "9.5G",
  "0.000001",
  "12.5",
  "Day",
  "Minute",
  "TokenBucket",
  "FixedWindow",
  "Cost",
  "Selector",
  "All",
  "Passthrough",
  "OpenAICompatible",
  "AzureOpenAI",
  "Unsupported",
  "https://example.com",
  "http://[::1]:80/v1",
  "HTTP://example.com",
  "/path",
  "Cookie",
  "ü".repeat(64),
  "x".repeat(300),
  [],
  {},
  [null],
  ["a", "a"],
  [{}],
  { name: "x" },
  { from: "Selector", selector: {} },
];

const memberNames = [
  "name",
  "spec",
  "status",
  "limits",
  "timeZone",
  "algorithm",
  "burst",
  "preset",
  "baseURL",
  "azure",
  "paths",
  "path",
  "selector",
  "notAfter",
  "notBefore",
  "sha256",
  "minimum",
  "maximum",
  "allowed",
  "queueTimeout",
  "unknownField",
  "__proto__",
];

/** A changed copy: one to three members replaced, removed, added or doubled, somewhere in `spec`. */
export function mutateManifest(manifest: unknown, random: () => number): unknown {
  let object = manifest;
  const times = 1 + Math.floor(random() * 3);
  for (let time = 0; time < times; time += 1) {
    object = isJsonObject(object) ? withMember(object, "spec", mutate(object["spec"], random)) : object;
  }
  return object;
}

function mutate(value: unknown, random: () => number): unknown {
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  if (Array.isArray(value) && value.length > 0) {
    const index = Math.floor(random() * value.length);
    const dice = random();
    if (dice < 0.1) return [...value, value[index]];
    if (dice < 0.15) return value.toSpliced(index, 1);
    return value.with(index, mutate(value[index], random));
  }
  if (isJsonObject(value)) {
    const names = Object.keys(value);
    const dice = random();
    if (dice < 0.2 || names.length === 0) return withMember(value, pick(memberNames) ?? "name", pick(replacements));
    const name = pick(names) ?? "";
    if (dice < 0.3) return Object.fromEntries(Object.entries(value).filter(([member]) => member !== name));
    return withMember(value, name, mutate(value[name], random));
  }
  return pick(replacements);
}

/** Not by assignment: a member called __proto__ is one. */
function withMember(object: { readonly [name: string]: unknown }, name: string, value: unknown): object {
  return Object.fromEntries([...Object.entries(object).filter(([member]) => member !== name), [name, value]]);
}
