/** Metrics that the chart's rules and dashboards name. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chartFolder } from "./render-chart.ts";

/** @returns names as in `# TYPE`: of a histogram without the endings of its series */
export function metricNamesOfChart(): readonly string[] {
  const files = ["rules", "dashboards"].flatMap((folder) =>
    readdirSync(join(chartFolder, "files", folder)).map((name) => join(chartFolder, "files", folder, name)),
  );
  const names = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\b(?:tollgate|process|nodejs)_[a-z_]+\b/g)].map((match) => match[0]),
  );
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, "")))].sort();
}
