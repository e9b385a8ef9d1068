/** Claude Code, run without a person. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { formatNames, useClientsRig } from "#test/support/clients/clients-rig";
import { nodePackages, usePackages } from "#test/support/clients/installed-packages";
import { claudeCode } from "#test/support/clients/programs/claude-code";
import { agentDeadlineMs, runWholeAgent } from "#test/support/clients/programs/program";
import { describeRun } from "#test/support/clients/run-program";

describe("clients: Claude Code", function () {
  this.timeout(agentDeadlineMs + 5_000);
  usePackages(nodePackages);
  const cell = useClientsRig();

  for (const format of formatNames) {
    it(`an agent over ${format}`, () => runWholeAgent(claudeCode, cell(format)));

    it(`a stream of ${format} that fails or breaks once is asked for again`, async () => {
      for (const end of [{ failure: "overloaded" }, { isCut: true }] as const) {
        let asked = 0;
        const { origin } = cell(format).play(({ tools }) => {
          asked += tools.length === 0 ? 0 : 1;
          return asked === 1 ? { text: "Half of it", ...end } : { text: "The whole of it." };
        });
        const { run, text } = await claudeCode.run(origin);
        assert.equal(run.status, 0, describeRun(run));
        assert.match(text, /The whole of it\./, describeRun(run));
        assert.ok(asked > 1);
      }
    });
  }
});
