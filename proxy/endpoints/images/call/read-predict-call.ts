/** Reads the calls of `:predict`, in which Google's older clients ask Imagen for pictures (docs/design/images.md 6). */
import { GatewayError } from "#proxy/errors";
import {
  checkParameters,
  integerRule,
  invalidValue,
  presentMember,
  requireList,
  requireMember,
} from "#proxy/formats/body/parameter-rules";
import { asList, asText, isObject, member } from "#proxy/json/json-value";
import {
  type Member,
  readJson,
  readNumber,
  type ScannedObject,
  scanJsonObject,
  scanMembers,
} from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { ImageCall, ImagePath } from "./image-call.ts";

const picturesMax = 128;
const rules = [integerRule("sampleCount", 1, picturesMax)];
/** Of a call that does not say: Google, "Generate images", parameter `sampleCount`. */
const usualSampleCount = 4;
/** Where the provider's own storage is read or written. */
const storageNames: ReadonlySet<string> = new Set(["gcsUri", "storageUri"]);

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value`, `invalid_json` */
export function readPredict(bytes: Buffer, endpoint: ImagePath, limits: ProxyLimits): ImageCall {
  const body = scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
  requireList(body, "instances");
  const instances = asList(readJson(body, requireMember(body, "instances")));
  const prompts = instances.map((instance, index) => {
    const prompt = asText(member(instance, "prompt"));
    if (prompt !== "") return prompt;
    const param = `instances[${index}].prompt`;
    throw new GatewayError("missing_parameter", `Missing required parameter: '${param}'.`, { param });
  });
  const found = presentMember(body, "parameters");
  const count = prompts.length * (found === undefined ? usualSampleCount : sampleCount(body, found));
  if (count > picturesMax) throw invalidValue("parameters.sampleCount", `must ask for at most ${picturesMax} pictures`);
  return {
    endpoint,
    model: endpoint.modelInPath ?? "",
    stream: false,
    body,
    form: undefined,
    upstreamObjects: storagePaths({ instances, parameters: found === undefined ? undefined : readJson(body, found) }),
    prompt: prompts.join("\n"),
    count,
    asked: { size: undefined, quality: undefined },
    partialImages: 0,
    frames: 1,
    isDrawnAsText: false,
    sources: [],
    mask: undefined,
  };
}

function sampleCount(body: ScannedObject, found: Member): number {
  if (found.kind !== "object") {
    throw new GatewayError("invalid_type", "'parameters' must be an object.", { param: "parameters" });
  }
  const parameters = scanMembers(body.bytes, found.valueStart, found.valueEnd);
  checkParameters(parameters, rules, "parameters.");
  return readNumber(parameters, presentMember(parameters, "sampleCount")) ?? usualSampleCount;
}

/** Paths of what names an object in the provider's storage. The depth of a body is bounded. */
function storagePaths(value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => storagePaths(each, `${path}[${index}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const inner = path === "" ? name : `${path}.${name}`;
    return storageNames.has(name) ? [inner] : storagePaths(each, inner);
  });
}
