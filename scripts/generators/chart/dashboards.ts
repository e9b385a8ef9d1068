/** The four Grafana dashboards of the chart, laid out from rows of panels. */
import { join } from "node:path";
import type { GeneratedFile } from "#scripts/generators/generated-file";
import { projectRoot } from "#scripts/run";
import { type Dashboard, dashboards, type Panel } from "./dashboard-panels.ts";
import { formatJson } from "./format-json.ts";

const columns = 24;
const panelsInRow = 3;
const rowHeight = 8;

export async function writeDashboards(): Promise<readonly GeneratedFile[]> {
  return dashboards.map((dashboard) => ({
    path: join(projectRoot, "charts", "tollgate", "files", "dashboards", `${dashboard.name}.json`),
    content: formatJson(`${dashboard.name}.json`, render(dashboard)),
  }));
}

function render({ name, title, description, panels }: Dashboard): object {
  return {
    uid: `tollgate-${name}`,
    title: `Tollgate / ${title}`,
    description,
    tags: ["tollgate"],
    editable: false,
    graphTooltip: 1,
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus", label: "Source" },
        {
          name: "namespace",
          type: "query",
          label: "Namespace",
          datasource: source,
          query: "label_values(tollgate_config_revision, namespace)",
          refresh: 2,
          includeAll: true,
          multi: true,
          allValue: ".*",
          current: { text: "All", value: "$__all" },
        },
      ],
    },
    panels: panels.map(renderPanel),
  };
}

const source = { type: "prometheus", uid: "$datasource" };

function renderPanel(panel: Panel, index: number): object {
  const width = columns / panelsInRow;
  return {
    id: index + 1,
    type: panel.isNumber === true ? "stat" : "timeseries",
    title: panel.title,
    datasource: source,
    gridPos: {
      x: (index % panelsInRow) * width,
      y: Math.floor(index / panelsInRow) * rowHeight,
      w: width,
      h: rowHeight,
    },
    fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
    options: panel.isNumber === true ? { reduceOptions: { calcs: ["lastNotNull"] } } : { tooltip: { mode: "multi" } },
    targets: panel.queries.map(([expr, legendFormat], position) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + position),
      datasource: source,
      expr,
      legendFormat,
    })),
  };
}
