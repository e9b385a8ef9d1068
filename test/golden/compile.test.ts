/**
 * Goldens of the compiler: each file holds manifests and what becomes of them, wire objects and conditions.
 *
 * `npm run golden -- --update` writes `expected` anew; the difference is what a reviewer reads.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseDocument as parseYaml } from "yaml";
import type { CompileSettings } from "#operator/compile/compilation";
import type { QuotaScope } from "#operator/compile/limits/hard-quotas";
import { conditionReasons, type ReasonRow } from "#operator/resources/reasons";
import { conditionsOf, type ResourceAcknowledgement, type Surroundings } from "#operator/status/conditions";
import { validateObject } from "#proxy/snapshot/validate";
import { compileText } from "#test/support/compile-manifests";

interface Golden {
  readonly settings?: Partial<CompileSettings>;
  readonly quotaScope?: QuotaScope;
  readonly now: string;
  /** By result id; what every proxy acknowledged otherwise. */
  readonly acknowledgements?: { readonly [id: string]: ResourceAcknowledgement };
  readonly observed?: {
    readonly [id: string]: Pick<Surroundings, "isUnfunded" | "exhaustedQuotas" | "endlessQuotas" | "health">;
  };
  readonly input: readonly object[];
  readonly expected?: unknown;
}

const folder = join(import.meta.dirname, "compile");
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const isUpdate = process.env["UPDATE_GOLDENS"] === "1";

/** Each row of the table of reasons, as `type status reason`; some golden must show it. */
const rows = Object.entries<{ readonly [reason: string]: ReasonRow }>(conditionReasons).flatMap(([type, reasons]) =>
  Object.entries(reasons).flatMap(([reason, { statuses }]) => statuses.map((status) => `${type} ${status} ${reason}`)),
);

function outcomeOf(golden: Golden) {
  const text = golden.input.map((object) => JSON.stringify(object, null, 1)).join("\n---\n");
  const compiled = compileText(text, golden.settings ?? {}, golden.quotaScope);
  const byId = (left: [string, unknown], right: [string, unknown]) => (left[0] < right[0] ? -1 : 1);
  const conditions: { [id: string]: { [type: string]: string } } = {};
  for (const [id, result] of [...compiled.results].sort(byId)) {
    const programmed: ResourceAcknowledgement = {
      state: "Programmed",
      readyProxies: 1,
      acknowledgedBy: 1,
      rejects: [],
    };
    const account =
      result.kind === "ApiKey" ? compiled.results.get(`account/${result.namespace}/${result.account}`) : undefined;
    const found = conditionsOf(result, golden.acknowledgements?.[id] ?? programmed, {
      nowMs: Date.parse(golden.now),
      wasProgrammed: false,
      ...golden.observed?.[id],
      ...(account?.kind === "Account" && { account }),
    });
    for (const { type, status, reason, message, observedGeneration } of found) {
      assert.equal(observedGeneration, result.generation);
      conditions[id] = { ...conditions[id], [type]: `${status} ${reason}: ${message}` };
    }
  }
  const objects = [...compiled.objects].filter(([id]) => id !== "setting/fleet").sort(byId);
  for (const [id, object] of compiled.objects) {
    assert.deepEqual(validateObject(object, id), { object });
  }
  const problems = compiled.resources.problems.map(
    ({ origin, field, message }) => `${origin.line} ${field}: ${message}`,
  );
  return { objects: objects.map(([, object]) => object), conditions, ...(problems.length > 0 && { problems }) };
}

describe("golden: compile", () => {
  const shown = new Set<string>();
  for (const file of files) {
    it(`${file.replace(/\.yaml$/, "").replaceAll("-", " ")}`, () => {
      const path = join(folder, file);
      const text = readFileSync(path, "utf8");
      const golden = parse(text) as Golden;
      const outcome = outcomeOf(golden);
      for (const conditions of Object.values(outcome.conditions)) {
        for (const [type, verdict] of Object.entries(conditions)) {
          shown.add(`${type} ${verdict.slice(0, verdict.indexOf(":"))}`);
        }
      }
      if (isUpdate) {
        const document = parseYaml(text);
        document.set("expected", JSON.parse(JSON.stringify(outcome)));
        const updated = document.toString({ lineWidth: 0 });
        if (updated !== text) writeFileSync(path, updated);
        return;
      }
      assert.deepEqual(outcome, golden.expected);
    });
  }

  it("the goldens show every reason of every condition with each of its statuses, and none beyond the table", () => {
    assert.deepEqual([...shown].sort(), [...rows].sort());
  });
});
