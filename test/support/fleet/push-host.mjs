/**
 * Loaded before a proxy's program: makes one host name resolve to what a file holds, as the cluster's DNS does for a
 * headless Service. `--import` of this file with `?host=NAME&file=PATH`.
 */

import dns from "node:dns";
import { readFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const { searchParams } = new URL(import.meta.url);
const host = searchParams.get("host");
const file = searchParams.get("file") ?? "";
const real = dns.promises.lookup;

dns.promises.lookup = async (name, options) => {
  if (name !== host) return real(name, options);
  const addresses = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  if (addresses.length === 0) throw new Error(`no address for ${name}`);
  return addresses.map((address) => ({ address, family: 4 }));
};
syncBuiltinESMExports();
