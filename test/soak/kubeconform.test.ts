/**
 * The chart's objects against the published schemas of the oldest and the newest Kubernetes that it supports: no field that
 * one of them does not know, and none of another type.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { before, describe, it } from "mocha";
import { parse } from "yaml";
import { projectRoot } from "../../scripts/run.ts";
import { findProgram } from "../support/cluster/programs.ts";
import { type ChartObject, idOf, parseObjects, renderChart } from "../support/cluster/render-chart.ts";
import { findSoakModule } from "../support/soak/soak-tool.ts";

const goldens = join(projectRoot, "test", "golden", "chart");

interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  additionalProperties?: unknown;
  format?: string;
  type?: string | string[];
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

for (const version of ["v1.31.14", "v1.36.3"])
  describe(`the chart for Kubernetes ${version}`, function () {
    this.timeout(900_000);
    let helm = "";
    const validators = new Map<string, ValidateFunction>();

    before(async function () {
      const found = findProgram("helm");
      const sources = await findSoakModule(`k8s.io/kubernetes@${version}`);
      if (found === undefined || sources === undefined) return this.skip();
      helm = found;
      const { definitions }: { definitions: Record<string, SchemaNode> } = JSON.parse(
        readFileSync(join(sources, "api", "openapi-spec", "swagger.json"), "utf8"),
      );
      for (const definition of Object.values(definitions)) makeStrict(definition);
      const ajv = new Ajv({ strict: false, validateFormats: false, schemas: [{ $id: "kubernetes", definitions }] });
      for (const [name, definition] of Object.entries(definitions))
        for (const { group, version: apiVersion, kind } of definition["x-kubernetes-group-version-kind"] ?? [])
          if (kind !== "DeleteOptions" && kind !== "WatchEvent")
            validators.set(
              `${group === "" ? apiVersion : `${group}/${apiVersion}`} ${kind}`,
              ajv.compile({ $ref: `kubernetes#/definitions/${name}` }),
            );
    });

    it("knows what it judges by", () => {
      const validate = validators.get("apps/v1 Deployment");
      assert.ok(validate);
      assert.equal(validate({ apiVersion: "apps/v1", kind: "Deployment", spec: { replica: 2 } }), false);
    });

    for (const file of readdirSync(goldens).filter((name) => name.endsWith(".yaml")))
      it(`takes ${file}`, async () => {
        const { values } = parse(readFileSync(join(goldens, file), "utf8"));
        const objects = parseObjects(await renderChart(helm, { ...values, crds: { enabled: false } }));
        assert.deepEqual(
          objects.flatMap((object) => problemsOf(object)),
          [],
        );
      });

    /** Kinds of other projects are not judged here. */
    function problemsOf(object: ChartObject): string[] {
      const validate = validators.get(`${object.apiVersion} ${object.kind}`);
      if (validate === undefined) {
        assert.match(object.apiVersion, /^(monitoring\.coreos\.com|cert-manager\.io|gateway\.networking\.k8s\.io)\//);
        return [];
      }
      if (validate(object)) return [];
      return (validate.errors ?? []).map(({ instancePath, message }) => `${idOf(object)} ${instancePath} ${message}`);
    }
  });

/** The published schemas let unknown fields pass, and write numbers or text as text. */
function makeStrict(node: SchemaNode): void {
  if (node.properties !== undefined && node.additionalProperties === undefined) node.additionalProperties = false;
  if (node.format === "int-or-string") node.type = ["integer", "string"];
  for (const child of Object.values(node.properties ?? {})) makeStrict(child);
}
