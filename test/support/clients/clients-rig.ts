/**
 * A gateway for each format of an upstream, all with the same models and the same key: a client program keeps the model
 * names that it knows and meets each upstream by the address that it is given.
 */
import { after, before } from "mocha";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import type { Scenario } from "./scenario.ts";
import { type FormatName, ScriptedUpstream } from "./scripted-upstream.ts";

/** Models that client programs ask for by themselves or are told to. */
export const models = {
  openai: "gpt-5.4",
  anthropic: "claude-opus-5-5",
  gemini: "gemini-3-pro-preview",
} as const;

/** Asked for beside them or in their place: titles, routing, summaries, successors. */
const sideModels = [
  "claude-haiku-4-5-20251001",
  "gemini-2.5-flash",
  "gemini-2.5-flash-lite",
  "gemini-3-flash-preview",
  "gemini-3.1-pro-preview",
];

const upstreamKinds: Readonly<Record<FormatName, { readonly provider: string; readonly model: string }>> = {
  ChatCompletions: { provider: "OpenAI", model: "gpt-5.4" },
  Responses: { provider: "OpenAI", model: "gpt-5.4" },
  Messages: { provider: "Anthropic", model: "claude-opus-5-5" },
  GenerateContent: { provider: "Gemini", model: "gemini-3-pro-preview" },
};

export const formatNames: readonly FormatName[] = ["ChatCompletions", "Responses", "Messages", "GenerateContent"];

/** One format of upstreams behind a gateway. */
export interface Cell {
  readonly origin: string;
  readonly upstream: ScriptedUpstream;
  readonly gateway: InProcessGateway;
  /** @returns this cell, whose upstream now plays the scenario */
  play(scenario: Scenario): Cell;
}

/** What clients present. */
export const key = clientKey("main");

/** Starts the gateways before the tests of the enclosing `describe` and ends them after it. */
export function useClientsRig(): (format: FormatName) => Cell {
  const cells = new Map<FormatName, Cell>();
  before(async function () {
    this.timeout(30_000);
    for (const format of formatNames) cells.set(format, await startCell(format));
  });
  after(async function () {
    this.timeout(20_000);
    for (const { gateway, upstream } of cells.values()) {
      await gateway.close();
      await upstream.close();
    }
  });
  return (format) => {
    const cell = cells.get(format);
    if (cell === undefined) throw new Error("the gateways have not been started");
    return cell;
  };
}

async function startCell(format: FormatName): Promise<Cell> {
  const upstream = await ScriptedUpstream.start(format);
  const { provider, model: upstreamModel } = upstreamKinds[format];
  const targets = [{ name: "main", channelRef: { name: "scripted" }, upstreamModel }];
  const names = [...Object.values(models), ...sideModels];
  const gateway = await InProcessGateway.start({
    manifests: manifestOf(
      channelSecretManifest(),
      keyManifest("main"),
      channelManifest("scripted", upstream.origin, { provider, formats: [{ type: format }] }),
      ...names.map((model, index) => routeManifest(`model-${index}`, { model, failover: { maxAttempts: 1 }, targets })),
    ),
  });
  const cell: Cell = {
    origin: gateway.origin,
    upstream,
    gateway,
    play(scenario) {
      upstream.play(scenario);
      return cell;
    },
  };
  return cell;
}
