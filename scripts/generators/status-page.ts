/**
 * The tables of `docs/status.md`, each below a comment that names what it comes from: the reasons of conditions from
 * `operator/resources/reasons.ts`, those of Events from `operator/status/events/event-reasons.ts`. The words around them
 * are written by hand.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { conditionReasons, type ReasonRow } from "#operator/resources/reasons";
import { eventReasons } from "#operator/status/events/event-reasons";
import { projectRoot } from "#scripts/run";
import type { GeneratedFile } from "./generated-file.ts";

/** Events with the reason of a condition. */
const eventsOfConditions = [
  "| of a condition above that is not as it should be | Warning | it came to be so; `Suspended` is Normal, as somebody wanted it |",
  "| of a condition above that is as it should be | Normal | it is so again |",
  "| `Rejected`, `ProxyTooOld` | Warning | a proxy could not take the version |",
];

export async function generateStatusPage(): Promise<readonly GeneratedFile[]> {
  const path = join(projectRoot, "docs", "status.md");
  return [{ path, content: withTables(readFileSync(path, "utf8")) }];
}

/**
 * @param page the page as it is
 * @returns the page with its tables written anew
 * @throws Error where a table is asked for that there is none of, or one has no place or two
 */
export function withTables(page: string): string {
  const tables = tablesByName();
  const placed: string[] = [];
  const content = page.replace(
    /^(<!-- Generated from ([A-Za-z, ]+) in \S+ by `npm run generate`; do not edit\. -->\n\n)(?:\|.*\n)*/gm,
    (_, comment: string, names: string) => {
      const [heading, ...rows] = names.split(", ").flatMap((name, index) => {
        const table = tables.get(name);
        if (table === undefined) throw new Error(`docs/status.md: there is no table ${name}`);
        placed.push(name);
        return index === 0 ? [table.heading, ...table.rows] : table.rows;
      });
      return `${comment}${[heading, "| --- | --- | --- |", ...rows].join("\n")}\n`;
    },
  );
  const expected = [...tables.keys()];
  if (placed.join() !== expected.join())
    throw new Error(
      `docs/status.md has the tables ${placed.join(", ")}, not each of ${expected.join(", ")} in this order`,
    );
  return content;
}

interface Table {
  readonly heading: string;
  readonly rows: readonly string[];
}

function tablesByName(): ReadonlyMap<string, Table> {
  const conditions = Object.entries<{ readonly [reason: string]: ReasonRow }>(conditionReasons).map(
    ([type, reasons]) => {
      const rows = Object.entries(reasons).map(
        ([reason, { statuses, means }]) => [reason, statuses.join(", "), means] as const,
      );
      return [type, { heading: "| Reason | Status | Means |", rows: joinNeighbours(rows) }] as const;
    },
  );
  const events = Object.entries(eventReasons).map(([reason, { types, toldWhen }]) => {
    return [reason, types.join(", "), toldWhen] as const;
  });
  const eventTable = {
    heading: "| Reason | Type | Told when |",
    rows: [...eventsOfConditions, ...joinNeighbours(events)],
  };
  return new Map<string, Table>([...conditions, ["eventReasons", eventTable]]);
}

type Row = readonly [reason: string, status: string, words: string];

/** One row of the page for neighbours that differ in the reason alone. */
function joinNeighbours(rows: readonly Row[]): string[] {
  const lines: { readonly reasons: string[]; readonly rest: string }[] = [];
  for (const [reason, status, words] of rows) {
    const rest = `${status} | ${words} |`;
    const last = lines.at(-1);
    if (last?.rest === rest) last.reasons.push(`\`${reason}\``);
    else lines.push({ reasons: [`\`${reason}\``], rest });
  }
  return lines.map(({ reasons, rest }) => `| ${reasons.join(", ")} | ${rest}`);
}
