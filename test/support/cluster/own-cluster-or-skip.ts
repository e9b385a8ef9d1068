/** A cluster for a suite, or a loud skip where there can be none; never a skip where that is forbidden. */
import { skipLoudly } from "./programs.ts";
import { startTestCluster, type TestCluster, type TestNode } from "./test-cluster.ts";

/**
 * For a `before` hook: does not return where the suite is skipped, which it is in somebody else's cluster too: that is not
 * ours to enter, nor to take any name in.
 *
 * @param context mocha's `this`
 */
export async function ownClusterOrSkip(context: {
  skip(): never;
}): Promise<{ readonly cluster: TestCluster; readonly node: TestNode }> {
  const cluster = await startTestCluster();
  if (typeof cluster === "string") {
    skipLoudly(context, cluster);
    return context.skip();
  }
  const { node } = cluster;
  if (node !== undefined) return { cluster, node };
  await cluster.stop();
  return context.skip();
}
