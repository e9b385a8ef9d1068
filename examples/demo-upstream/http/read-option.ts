/** Options of a call, which are values of their type in JSON and texts in a form. */
import { BadRequest } from "#examples/demo-upstream/format";
import { type JsonObject, text } from "#examples/demo-upstream/json-view";

/** @throws BadRequest for what is no whole number from `min` to `max` */
export function wholeNumber(body: JsonObject, name: string, min: number, max: number): number | undefined {
  const value = numberIn(body, name);
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new BadRequest(name, `Invalid '${name}': give a whole number from ${min} to ${max}.`);
}

/** @throws BadRequest for what is no number from `min` to `max` */
export function numberBetween(body: JsonObject, name: string, min: number, max: number): number | undefined {
  const value = numberIn(body, name);
  if (value === undefined || (value >= min && value <= max)) return value;
  throw new BadRequest(name, `Invalid '${name}': give a number from ${min} to ${max}.`);
}

/** NaN for what is there and is no number. */
function numberIn(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value.trim() !== "") return Number(value);
  return typeof value === "number" ? value : Number.NaN;
}

/** @throws BadRequest for a value that is not among the choices */
export function choice<Choice extends string>(
  body: JsonObject,
  name: string,
  choices: readonly Choice[],
  absent: Choice,
): Choice {
  const value = body[name] ?? absent;
  const chosen = choices.find((one) => one === value);
  if (chosen !== undefined) return chosen;
  throw new BadRequest(name, `Invalid '${name}': this upstream serves ${choices.join(", ")}.`);
}

/** Whether an option is on. */
export function isOn(body: JsonObject, name: string): boolean {
  return body[name] === true || body[name] === "true";
}

/** @throws BadRequest where the text is missing or empty */
export function requiredText(body: JsonObject, name: string): string {
  const value = text(body[name]);
  if (value !== undefined && value.trim() !== "") return value;
  throw new BadRequest(name, `Missing required parameter: '${name}'.`);
}
