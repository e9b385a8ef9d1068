/** Reads how much a messages client wants its model to think (docs/design/translation.md 6.1). */
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { Effort, ReasoningOptions } from "#proxy/neutral/conversation";
import { refuseValue } from "./refusals.ts";

const efforts: ReadonlySet<string> = new Set<Effort>(["minimal", "low", "medium", "high", "xhigh", "max"]);

/** @throws GatewayError for kinds of thinking and efforts that are unknown */
export function readThinking(body: JsonObject): ReasoningOptions | undefined {
  const thinking = body["thinking"];
  const effort = readEffort(member(body["output_config"], "effort"));
  if (!isObject(thinking)) return effort === undefined ? undefined : { mode: "auto", effort, show: false };
  const show = thinking["display"] !== "omitted";
  switch (thinking["type"]) {
    case "disabled":
      return { mode: "off", show: false };
    case "enabled": {
      const budget = thinking["budget_tokens"];
      return { mode: "on", effort, budget: typeof budget === "number" ? budget : undefined, show, carriesBlocks: true };
    }
    case "adaptive":
    case "between_tools":
      return { mode: effort === undefined ? "auto" : "on", effort, show, carriesBlocks: true };
    default:
      return refuseValue("thinking.type", "must be 'enabled', 'adaptive', 'between_tools' or 'disabled'");
  }
}

function readEffort(value: unknown): Effort | undefined {
  if (value === undefined || value === null) return undefined;
  return isEffort(value) ? value : refuseValue("output_config.effort", "is not a known effort");
}

function isEffort(value: unknown): value is Effort {
  return typeof value === "string" && efforts.has(value);
}
