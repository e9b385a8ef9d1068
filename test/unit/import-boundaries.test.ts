import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Reads every import of the tree and fails on an edge that the design forbids, on one that leads upwards, or on a cycle
 * (a folder may know only what it is meant to know; see CONTRIBUTING.md).
 */
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const sources = globSync("{operator,proxy,cli,scripts}/**/*.ts", { cwd: root });

/**
 * The floors of the proxy, from the ground up: a folder imports from its own floor's folder and from those below, never
 * from beside or above.
 */
const floors: readonly (readonly string[])[] = [
  ["snapshot", "errors", "limits", "runtime", "sse", "sqlite", "http1", "web-socket"],
  ["json", "multipart", "providers"],
  ["settle"],
  ["neutral", "observe"],
  ["formats", "http", "settings"],
  ["translate", "authenticate", "authorize", "route", "responses-state"],
  ["parameters", "upstream", "admit"],
  ["sync"],
  ["dispatch"],
  ["endpoints"],
  ["explain"],
  ["pipeline", "admin"],
  ["main"],
];

interface Rule {
  readonly name: string;
  readonly from: RegExp;
  readonly forbidden: RegExp;
}

const formats = "(chat-completions|responses|messages|generate-content)";
const io = "node:(fs|http|https|net|tls|dns|worker_threads|sqlite|child_process|timers)|undici|pino|express";

const rules: readonly Rule[] = [
  {
    name: "the operator knows nothing of the proxy but the snapshot contract",
    from: /^operator\//,
    forbidden: /^proxy\/(?!snapshot\/)/,
  },
  {
    name: "the proxy knows nothing of the operator, of Kubernetes or of the command line",
    from: /^proxy\//,
    forbidden: /^(operator\/|cli\/|scripts\/|@kubernetes\/)/,
  },
  {
    name: "the snapshot contract imports nothing of ours but itself",
    from: /^proxy\/snapshot\//,
    forbidden: /^(operator|cli|scripts|proxy\/(?!snapshot\/))/,
  },
  {
    name: "http1 imports nothing but itself and Node's own modules",
    from: /^proxy\/http1\//,
    forbidden: /^(?!proxy\/http1\/|node:)/,
  },
  {
    name: "web-socket imports nothing but itself and Node's own modules",
    from: /^proxy\/web-socket\//,
    forbidden: /^(?!proxy\/web-socket\/|node:)/,
  },
  {
    name: "the wire of http1 knows neither its server nor its client",
    from: /^proxy\/http1\/wire\//,
    forbidden: /^proxy\/http1\/(server|client)\//,
  },
  {
    name: "the server of http1 does not know its client",
    from: /^proxy\/http1\/server\//,
    forbidden: /^proxy\/http1\/client\//,
  },
  {
    name: "the client of http1 does not know its server",
    from: /^proxy\/http1\/client\//,
    forbidden: /^proxy\/http1\/server\//,
  },
  {
    name: "operator and command line know nothing of the tools that build them",
    from: /^(operator|cli)\//,
    forbidden: /^(scripts|test)\//,
  },
  {
    name: "pure folders import no I/O, clock or logger",
    from: /^(operator\/compile\/|proxy\/(authorize|route|neutral|translate)\/|proxy\/formats\/[a-z-]+\/|proxy\/admit\/(estimate-cost|window|token-bucket|claims)\.ts|proxy\/settle\/(usage|price)\.ts)/,
    forbidden: new RegExp(`^(${io})`),
  },
  {
    name: "formats do not import each other",
    from: new RegExp(`^proxy/formats/${formats}/`),
    forbidden: new RegExp(`^proxy/formats/${formats}/`),
  },
  {
    name: "what passes in its own format knows nothing of translation",
    from: new RegExp(`^proxy/formats/${formats}/native/`),
    forbidden: /^proxy\/(formats\/[a-z-]+\/translate|neutral\/(?!wire|ids\/)|translate)\//,
  },
];

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found: string[] = [];
  for (const match of text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g))
    found.push(pathOf(match[1] ?? match[2] ?? "", file));
  return found;
}

/** A file of ours by its path; a package by its name. */
function pathOf(specifier: string, file: string): string {
  if (specifier.startsWith("#")) return specifier.endsWith(".mjs") ? specifier.slice(1) : `${specifier.slice(1)}.ts`;
  return specifier.startsWith(".") ? relative(root, join(root, dirname(file), specifier)) : specifier;
}

function formatOf(file: string): string | undefined {
  return new RegExp(`^proxy/formats/${formats}/`).exec(file)?.[1];
}

/** The room of a file of the proxy: the folder or the file at its root. */
function roomOf(file: string): string | undefined {
  return /^proxy\/([^/.]+)/.exec(file)?.[1];
}

describe("import boundaries", () => {
  for (const rule of rules) {
    it(rule.name, () => {
      const broken: string[] = [];
      for (const file of sources.filter((path) => rule.from.test(path))) {
        for (const imported of importsOf(file)) {
          if (!rule.forbidden.test(imported)) continue;
          const format = formatOf(file);
          if (rule.name.startsWith("formats do not") && format !== undefined && format === formatOf(imported)) continue;
          broken.push(`${file} imports ${imported}`);
        }
      }
      assert.deepEqual(broken, []);
    });
  }

  it("imports of the proxy lead downwards", () => {
    const floorOf = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));
    const broken: string[] = [];
    for (const file of sources.filter((path) => path.startsWith("proxy/"))) {
      const room = roomOf(file) ?? "";
      const floor = floorOf.get(room);
      assert.ok(floor !== undefined, `${file} stands in a folder that has no floor: give it one here`);
      for (const imported of importsOf(file)) {
        const other = roomOf(imported);
        if (other === undefined || other === room) continue;
        if ((floorOf.get(other) ?? 0) >= floor) broken.push(`${file} imports ${imported}`);
      }
    }
    assert.deepEqual(broken, []);
  });

  it("the proxy's root holds six files, the operator's three", () => {
    const atRoot = (folder: string): string[] => globSync(`${folder}/*.ts`, { cwd: root }).sort();
    assert.deepEqual(
      atRoot("proxy"),
      ["admin", "errors", "explain", "limits", "main", "settings"].map((name) => `proxy/${name}.ts`),
    );
    assert.deepEqual(
      atRoot("operator"),
      ["admin", "main", "settings"].map((name) => `operator/${name}.ts`),
    );
  });

  it("imports of another folder go by the package's own names", () => {
    const climbing = globSync("{operator,proxy,cli,scripts,test,examples}/**/*.ts", { cwd: root }).filter((file) =>
      /\bfrom "\.\.\//.test(readFileSync(join(root, file), "utf8")),
    );
    assert.deepEqual(climbing, []);
  });

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
