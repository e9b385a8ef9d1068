/** The images there are, and what of the tree each of them holds. */

export interface ImageTarget {
  /** Compiled file that its entry point runs. */
  readonly entry: string;
  /** Commands of the program that it cannot run; a word about it stands in their place. */
  readonly leftOut: readonly string[];
}

/** The proxy's image knows nothing of Kubernetes, the operator's nothing of requests. */
export const imageTargets: { readonly [name: string]: ImageTarget } = {
  proxy: {
    entry: "cli/main.js",
    leftOut: [
      "cli/commands/operator.js",
      "cli/commands/standalone.js",
      "cli/commands/explain.js",
      "cli/commands/key.js",
      "cli/validate.js",
    ],
  },
  operator: {
    entry: "cli/main.js",
    leftOut: ["cli/commands/proxy.js", "cli/commands/standalone.js", "cli/commands/explain.js"],
  },
  "demo-upstream": { entry: "examples/demo-upstream/main.js", leftOut: [] },
};
