/** A control plane for a suite, or a loud skip where there are no binaries; never a skip where that is forbidden. */
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../kube-control-plane.ts";

/**
 * For a `before` hook. Where `TOLLGATE_SKIP` is `never`, as in CI, missing binaries are a failure.
 *
 * @param context mocha's `this`
 */
export async function controlPlaneOrSkip(
  context: { skip(): never },
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const started = await startControlPlane(options);
  if (typeof started !== "string") return started;
  if (process.env["TOLLGATE_SKIP"] === "never") throw new Error(started);
  console.error(`      SKIPPED: ${started}`);
  return context.skip();
}
