/** A control plane for a suite, or a loud skip where there are no binaries; never a skip where that is forbidden. */
import { skipLoudly } from "#test/support/cluster/programs";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "#test/support/kube-control-plane";

/**
 * For a `before` hook: does not return where the suite is skipped.
 *
 * @param context mocha's `this`
 */
export async function controlPlaneOrSkip(
  context: { skip(): never },
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const started = await startControlPlane(options);
  if (typeof started !== "string") return started;
  skipLoudly(context, started);
  return context.skip();
}
