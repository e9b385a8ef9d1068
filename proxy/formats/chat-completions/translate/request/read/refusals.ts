/** Refuses a client's chat completions body: each error names the path of the field at fault. */
import { GatewayError } from "#proxy/errors";

export function missing(where: string): GatewayError {
  return new GatewayError("missing_parameter", `Missing required parameter: '${where}'.`, { param: where });
}

/** @param expected for example `a string` */
export function wrongType(where: string, expected: string): GatewayError {
  return new GatewayError("invalid_type", `'${where}' must be ${expected}.`, { param: where });
}

/** @param problem for example `must be one of "a", "b"` */
export function wrongValue(where: string, problem: string): GatewayError {
  return new GatewayError("invalid_value", `'${where}' ${problem}.`, { param: where });
}

/** What the gateway knows but cannot carry to a provider of another format. */
export function unsupported(where: string, problem = "is not supported by the selected model"): GatewayError {
  return new GatewayError("unsupported_parameter", `Unsupported parameter: '${where}' ${problem}.`, { param: where });
}
