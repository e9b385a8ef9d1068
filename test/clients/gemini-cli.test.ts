/** Gemini CLI, run without a person. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { formatNames, useClientsRig } from "#test/support/clients/clients-rig";
import { nodePackages, usePackages } from "#test/support/clients/installed-packages";
import { geminiCli } from "#test/support/clients/programs/gemini-cli";
import { agentDeadlineMs, runWholeAgent } from "#test/support/clients/programs/program";
import { describeRun } from "#test/support/clients/run-program";

describe("clients: Gemini CLI", function () {
  this.timeout(agentDeadlineMs + 5_000);
  usePackages(nodePackages);
  const cell = useClientsRig();

  for (const format of formatNames) {
    it(`pitfall 165: an agent over ${format}`, () => runWholeAgent(geminiCli, cell(format)));
  }

  it("a refused request ends it with a failure", async () => {
    const { origin } = cell("Messages").play(() => ({ status: 400 }));
    const { run, errors } = await geminiCli.run(origin);
    assert.notEqual(run.status, 0, describeRun(run));
    assert.equal(errors.length, 1, describeRun(run));
  });
});
