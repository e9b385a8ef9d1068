/** A thread that makes objects of all ages, then says how large its young generation has become, in bytes. */
import { getHeapSpaceStatistics } from "node:v8";
import { parentPort } from "node:worker_threads";

let kept: object[] = [];
for (let made = 0; made < 2_000_000; made += 1) {
  kept.push({ made, of: [made] });
  if (kept.length > 50_000) kept = kept.slice(25_000);
}
parentPort?.postMessage(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size);
