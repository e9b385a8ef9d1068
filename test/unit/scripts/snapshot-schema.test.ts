import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readCrdSchemas } from "#scripts/generators/crd-schemas";
import { readSnapshotSchema, resolveEnums, sharedEnums } from "#scripts/generators/snapshot-schema";
import { projectRoot } from "#scripts/run";

const enums = new Map([["Channel.spec.auth.scheme", ["Bearer", "Raw"]]]);

describe("enums of the snapshot's schema", () => {
  it("come from the place that is named, beside the other keywords", () => {
    assert.deepEqual(resolveEnums({ items: [{ description: "d", enumFrom: "Channel.spec.auth.scheme" }] }, enums), {
      items: [{ description: "d", enum: ["Bearer", "Raw"] }],
    });
  });

  it("are refused when no enum has the place", () => {
    assert.throws(
      () => resolveEnums({ enumFrom: "Channel.spec.auth" }, enums),
      /no enum has the place Channel.spec.auth/,
    );
  });

  it("are refused when they repeat the values of another place, in whatever order", () => {
    assert.throws(
      () => resolveEnums({ enum: ["Raw", "Bearer"] }, enums),
      /"enumFrom" with one of Channel.spec.auth.scheme/,
    );
    assert.deepEqual(resolveEnums({ enum: ["Header", "Query"] }, enums), { enum: ["Header", "Query"] });
  });

  it("are in the committed schema by place, in every kind of wire object that resources feed", () => {
    const text = readFileSync(join(projectRoot, "proxy", "snapshot", "schema.json"), "utf8");
    const places = [...text.matchAll(/"enumFrom": "([^"]+)"/g)].map(([, place]) => place ?? "");
    const known = [...sharedEnums().keys()];
    for (const kind of [...readCrdSchemas().map(({ kind }) => kind), "settings"]) {
      assert.ok(
        places.some((place) => place.startsWith(`${kind}.`)),
        kind,
      );
    }
    assert.deepEqual(
      places.filter((place) => !known.includes(place)),
      [],
    );
    assert.doesNotMatch(JSON.stringify(readSnapshotSchema()), /"enumFrom":/);
  });
});
