/** The chart rendered by helm, and a rendering as objects. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { projectRoot } from "#scripts/run";

const run = promisify(execFile);

export const chartFolder = join(projectRoot, "charts", "tollgate");

export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
  readonly [member: string]: unknown;
}

/** Of a release. */
export interface ReleasePlace {
  readonly name: string;
  readonly namespace: string;
}

/** @throws what helm says when the values are refused */
export async function renderChart(
  helm: string,
  values: object,
  flags: readonly string[] = [],
  { name, namespace }: ReleasePlace = { name: "tollgate", namespace: "gateway" },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-chart-"));
  try {
    const file = join(folder, "values.json");
    // JSON: helm reads YAML 1.1, where `off` is no text.
    await writeFile(file, JSON.stringify(values));
    const { stdout } = await run(
      helm,
      ["template", name, chartFolder, "--namespace", namespace, "--values", file, ...flags],
      { maxBuffer: 2 ** 26, env: { ...process.env, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder } },
    );
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function parseObjects(text: string): readonly ChartObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const value: unknown = document.toJS();
    return isChartObject(value) ? [value] : [];
  });
}

function isChartObject(value: unknown): value is ChartObject {
  return typeof value === "object" && value !== null && "kind" in value && "metadata" in value;
}

/** `Kind namespace/name`, the same for one object in every rendering. */
export function idOf({ kind, metadata }: ChartObject): string {
  return metadata.namespace === undefined
    ? `${kind} ${metadata.name}`
    : `${kind} ${metadata.namespace}/${metadata.name}`;
}
