/** Refuses a messages client's body: each error names the field as the client spells it, `messages.0.content.1`. */
import { GatewayError } from "#proxy/errors";
import { isObject, type JsonObject } from "#proxy/json/json-value";

/** @throws GatewayError `invalid_type` */
export function refuseType(path: string, expected: string): never {
  throw new GatewayError("invalid_type", `'${path}' must be ${expected}.`, { param: path });
}

/** @throws GatewayError `invalid_value` */
export function refuseValue(path: string, problem: string): never {
  throw new GatewayError("invalid_value", `'${path}' ${problem}.`, { param: path });
}

/** What only the vendor itself could do. @throws GatewayError `unsupported_parameter` */
export function refuseUnsupported(path: string): never {
  throw new GatewayError(
    "unsupported_parameter",
    `Unsupported parameter: '${path}' is not supported by the selected model.`,
    { param: path },
  );
}

/** @throws GatewayError `invalid_type` when it is no object */
export function objectAt(value: unknown, path: string): JsonObject {
  return isObject(value) ? value : refuseType(path, "an object");
}

/** @throws GatewayError `invalid_type` when it is no text */
export function textAt(value: unknown, path: string): string {
  return typeof value === "string" ? value : refuseType(path, "a string");
}

/** A text that may be absent. @throws GatewayError `invalid_type` */
export function optionalTextAt(value: unknown, path: string): string | undefined {
  return value === undefined || value === null ? undefined : textAt(value, path);
}

/** @throws GatewayError `invalid_type` when it is no list */
export function listAt(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuseType(path, "an array");
}

/** A finite number that may be absent; checked by the call's own rules before, so anything else is absent. */
export function optionalNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
