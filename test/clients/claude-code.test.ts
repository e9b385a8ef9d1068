/** Claude Code, run without a person. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { formatNames, useClientsRig } from "../support/clients/clients-rig.ts";
import { nodePackages, usePackages } from "../support/clients/installed-packages.ts";
import { claudeCode } from "../support/clients/programs/claude-code.ts";
import { agentDeadlineMs, runWholeAgent } from "../support/clients/programs/program.ts";
import { describeRun } from "../support/clients/run-program.ts";

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
