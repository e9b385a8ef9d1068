import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Reads every import of the tree and fails on an edge that the design forbids, or on a cycle
 * (a folder may know only what it is meant to know; see CONTRIBUTING.md).
 */
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const sources = globSync("{operator,proxy,cli}/**/*.ts", { cwd: root });

interface Rule {
  readonly name: string;
  readonly from: RegExp;
  readonly forbidden: RegExp;
}

const rules: readonly Rule[] = [
  {
    name: "the operator knows nothing of the proxy but the snapshot contract",
    from: /^operator\//,
    forbidden: /^proxy\/(?!snapshot\/)/,
  },
  {
    name: "the proxy knows nothing of the operator, of Kubernetes or of the command line",
    from: /^proxy\//,
    forbidden: /^(operator\/|cli\/|@kubernetes\/)/,
  },
  {
    name: "the snapshot contract imports nothing of ours but itself",
    from: /^proxy\/snapshot\//,
    forbidden: /^(operator|cli|proxy\/(?!snapshot\/))/,
  },
  {
    name: "pure folders import no I/O, clock or logger",
    from: /^(operator\/compile\/|proxy\/authorize\/|proxy\/route\/|proxy\/admit\/(estimate-cost|window|token-bucket|claims)\.ts|proxy\/settle\/(usage|price)\.ts)/,
    forbidden: /^(node:(fs|http|https|net|tls|dns|worker_threads|sqlite|child_process|timers)|undici|pino|express)/,
  },
  {
    name: "protocol folders do not import each other",
    from: /^proxy\/protocols\/(chat-completions|responses|messages|generate-content|models)\//,
    forbidden: /^proxy\/protocols\/(chat-completions|responses|messages|generate-content|models)\//,
  },
  {
    name: "translators of formats do not import each other",
    from: /^proxy\/translate\/(chat-completions|responses|messages|generate-content)\//,
    forbidden: /^proxy\/translate\/(chat-completions|responses|messages|generate-content)\//,
  },
  {
    name: "a translator knows no protocol folder but its own format's",
    from: /^proxy\/translate\/(chat-completions|responses|messages|generate-content)\//,
    forbidden: /^proxy\/protocols\/(chat-completions|responses|messages|generate-content|models)\//,
  },
  {
    name: "translation is pure",
    from: /^proxy\/translate\//,
    forbidden:
      /^(node:(fs|http|https|net|tls|dns|worker_threads|sqlite|child_process|timers)|undici|pino|express|proxy\/(authenticate|authorize|admit|route|forward)\/)/,
  },
  {
    name: "stages do not import each other: authenticate",
    from: /^proxy\/authenticate\//,
    forbidden: /^proxy\/(authorize|admit|route|forward|settle|protocols)\/(?!wire)/,
  },
  {
    name: "stages do not import each other: authorize",
    from: /^proxy\/authorize\//,
    forbidden: /^proxy\/(authenticate|admit|route|forward|settle)\//,
  },
  {
    name: "stages do not import each other: route",
    from: /^proxy\/route\//,
    forbidden: /^proxy\/(authenticate|authorize|admit|forward|settle)\//,
  },
  {
    name: "stages do not import each other: forward",
    from: /^proxy\/forward\//,
    forbidden: /^proxy\/(authenticate|authorize|admit|route)\//,
  },
  {
    name: "stages do not import each other: protocols",
    from: /^proxy\/protocols\//,
    forbidden: /^proxy\/(authenticate|authorize|admit|route|forward)\//,
  },
];

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found: string[] = [];
  for (const match of text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g)) {
    const specifier = match[1] ?? match[2] ?? "";
    found.push(specifier.startsWith(".") ? relative(root, join(root, dirname(file), specifier)) : specifier);
  }
  return found;
}

/** Within one folder, or from a format's translator to the same format's protocol folder. */
function isOfSameFormat(file: string, imported: string): boolean {
  const [top, layer, format] = dirname(file).split("/");
  const [otherTop, otherLayer, otherFormat] = dirname(imported).split("/");
  if (top !== otherTop || format !== otherFormat) return false;
  return layer === otherLayer || (layer === "translate" && otherLayer === "protocols" && format !== undefined);
}

describe("import boundaries", () => {
  for (const rule of rules) {
    it(rule.name, () => {
      const broken: string[] = [];
      for (const file of sources.filter((path) => rule.from.test(path))) {
        for (const imported of importsOf(file)) {
          if (!rule.forbidden.test(imported)) continue;
          if (isOfSameFormat(file, imported)) continue;
          broken.push(`${file} imports ${imported}`);
        }
      }
      assert.deepEqual(broken, []);
    });
  }

  it("has no cycle between files", () => {
    const edges = new Map(sources.map((file) => [file, importsOf(file).filter((path) => sources.includes(path))]));
    const state = new Map<string, "open" | "done">();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (state.get(file) === "done") return;
      if (state.get(file) === "open") {
        cycles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
        return;
      }
      state.set(file, "open");
      for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
      state.set(file, "done");
    };
    for (const file of sources) visit(file, []);
    assert.deepEqual(cycles, []);
  });
});
