/** The blocks of the pages for a cluster, one after the other, as a reader would type them. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { projectRoot } from "#scripts/run";
import { ownClusterOrSkip } from "#test/support/cluster/own-cluster-or-skip";
import { findProgram } from "#test/support/cluster/programs";
import { releaseValues } from "#test/support/cluster/release";
import type { TestCluster, TestNode } from "#test/support/cluster/test-cluster";
import { readPageBlocks } from "#test/support/page-blocks";

const blocks = (await readPageBlocks()).filter(({ language }) => language === "shell");

describe("pages on a cluster", function () {
  this.timeout(300_000);
  let cluster: TestCluster;
  let node: TestNode;

  before(async function () {
    // Its names are taken in somebody's cluster.
    ({ cluster, node } = await ownClusterOrSkip(this));
    await writeFile(join(cluster.folder, "images.json"), JSON.stringify(releaseValues(cluster)));
    const demo = await readFile(join(projectRoot, "examples/kubernetes/demo-upstream.yaml"), "utf8");
    const { registry, tag } = cluster.images;
    await writeFile(
      join(cluster.folder, "demo-upstream.yaml"),
      demo.replace("tollgate-demo-upstream:0.1.0", `${registry}/tollgate-demo-upstream:${tag}`),
    );
  });

  after(() => cluster?.stop());

  it("there are blocks for installing, calling and upgrading", () => assert.ok(blocks.length >= 5));

  for (const { page, text, line } of blocks)
    it(`${page}, line ${line}: ${text.trim().split("\n")[0]}`, async () => {
      const images = `--values ${join(cluster.folder, "images.json")}`;
      const script = text
        .replaceAll("charts/tollgate ", `charts/tollgate ${images} `)
        .replaceAll("examples/kubernetes/demo-upstream.yaml", join(cluster.folder, "demo-upstream.yaml"));
      const folders = new Set(["helm", "kubectl"].map((name) => join(findProgram(name) ?? "", "..")));
      const path = [...folders, process.env["PATH"]].join(":");
      const said = await node.run({ PATH: path }, "bash", "-euo", "pipefail", "-c", script);
      assert.notEqual(said.trim(), "");
    });
});
