/**
 * Parses the arguments of a call into the object that a whole message must have (docs/design/translation.md 5.4).
 *
 * A reply that ended at its limit may hold arguments that were cut off: the client gets as much of them as is whole, as
 * the official SDK reads such a stream.
 */

import { argumentsObject } from "#proxy/json/json-text";
import type { JsonObject } from "#proxy/json/json-value";

export function parseInput(text: string): JsonObject {
  return argumentsObject(text) ?? repaired(text) ?? { _raw: text };
}

/** Points at which a cut text could be closed, tried from the last one: a bound against long nonsense. */
const attemptsMax = 32;
const depthMax = 64;

function repaired(text: string): JsonObject | undefined {
  const points = closingPoints(text);
  for (let attempt = 1; attempt <= Math.min(points.length, attemptsMax); attempt += 1) {
    const point = points[points.length - attempt];
    const value = point === undefined ? undefined : argumentsObject(text.slice(0, point.end) + point.closers);
    if (value !== undefined) return value;
  }
  return undefined;
}

interface ClosingPoint {
  readonly end: number;
  readonly closers: string;
}

/** Where values end, and the end of the text itself; each with the brackets that are open there. */
function closingPoints(text: string): readonly ClosingPoint[] {
  const points: ClosingPoint[] = [];
  const open: string[] = [];
  let isString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isString) {
      if (character === "\\") index += 1;
      else if (character === '"') isString = false;
      continue;
    }
    if (character === '"') isString = true;
    else if (character === "{") open.push("}");
    else if (character === "[") open.push("]");
    else if (character === "}" || character === "]") open.pop();
    if (open.length > depthMax) return [];
    // In front of a comma all values are whole; behind an opening bracket there are none yet.
    if (character === ",") points.push({ end: index, closers: closersOf(open) });
    else if (character === "{" || character === "[") points.push({ end: index + 1, closers: closersOf(open) });
    if (points.length > attemptsMax * 2) points.splice(0, attemptsMax);
  }
  points.push({ end: text.length, closers: closersOf(open) });
  if (isString) points.push({ end: text.length, closers: `"${closersOf(open)}` });
  return points;
}

function closersOf(open: readonly string[]): string {
  return [...open].reverse().join("");
}
