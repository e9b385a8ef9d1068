/** A coding agent as a program: how it is run without a person in front of a gateway, and what it says. */
import assert from "node:assert/strict";
import type { Cell } from "#test/support/clients/clients-rig";
import { describeRun, type ProgramRun } from "#test/support/clients/run-program";
import { agentScenario, type ScriptedCall } from "#test/support/clients/scenario";

export interface AgentRun {
  readonly run: ProgramRun;
  /** What a person would be shown at the end; empty where there is no such text. */
  readonly text: string;
  /** What it reports as failures, in its own words. */
  readonly errors: readonly string[];
}

export interface Agent {
  readonly name: string;
  /** A call of its shell that shows `did WORD`. */
  readonly call: (word: string) => ScriptedCall;
  /** Gives it the task of three steps and waits for its end. @param origin of the gateway */
  run(origin: string): Promise<AgentRun>;
}

/** How long any of them may take. */
export const agentDeadlineMs = 45_000;

export const agentPrompt = "Take three steps.";

/** All three turns, without anything refused and with the results in the last text. */
export async function runWholeAgent(agent: Agent, cell: Cell): Promise<void> {
  const { upstream } = cell.play(agentScenario(agent.call));
  const { run, text, errors } = await agent.run(cell.origin);
  const seen = `${errors.join("\n")}\nrefused: ${upstream.refusals.join("; ")}\n${describeRun(run)}`;
  assert.equal(run.status, 0, seen);
  assert.deepEqual(upstream.refusals, [], seen);
  for (const word of ["All done:", "did alpha", "did beta", "did gamma"]) assert.ok(text.includes(word), seen);
  const turns = upstream.questions.filter(({ tools }) => tools.length > 0);
  assert.equal(turns.length, 3, `no turn was asked for twice: ${seen}`);
}
