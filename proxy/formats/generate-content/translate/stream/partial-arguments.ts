/**
 * Aggregates arguments that Vertex AI streams by paths (`streamFunctionCallArguments`,
 * docs/design/generate-content.md 5.1): `{"jsonPath": "$.city", "stringValue": "Par", "willContinue": true}`.
 *
 * It only ever makes own members: a path that leads to a prototype is invalid (pitfall 86). Lists grow one by one, so
 * that no index makes a huge one.
 */
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { setOwn } from "#proxy/neutral/schema/subschemas";

const charactersMax = 8 * 1024 * 1024;
const depthMax = 64;
const forbidden = new Set(["__proto__", "constructor", "prototype"]);
const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

type Container = JsonObject | unknown[];

export class PartialArguments {
  readonly #root: JsonObject;
  #characters = 0;

  /** @param args what came whole with the call's name */
  constructor(args: unknown) {
    this.#root = isObject(args) ? { ...args } : {};
  }

  /** @throws InvalidReply for a path that is none */
  apply(partials: unknown): void {
    for (const partial of asList(partials)) {
      const path = member(partial, "jsonPath");
      if (typeof path !== "string") throw new InvalidReply("a piece of a call's arguments has no path");
      this.#set(readPath(path), partial);
    }
  }

  /** As the pieces so far have made them. */
  get value(): JsonObject {
    return this.#root;
  }

  toJson(): string {
    return JSON.stringify(this.#root);
  }

  #set(steps: readonly (string | number)[], partial: unknown): void {
    const last = steps.at(-1);
    if (last === undefined) throw new InvalidReply("a piece of a call's arguments has an empty path");
    let container: Container = this.#root;
    for (const [index, name] of steps.slice(0, -1).entries()) {
      container = descend(container, name, typeof steps[index + 1] === "number");
    }
    const text = member(partial, "stringValue");
    if (typeof text === "string") {
      this.#characters += text.length;
      if (this.#characters > charactersMax) throw new InvalidReply("the arguments of a call are too long");
      const known = read(container, last);
      write(container, last, typeof known === "string" ? known + text : text);
      return;
    }
    const value = member(partial, "numberValue") ?? member(partial, "boolValue");
    if (value !== undefined) write(container, last, value);
    else if (isObject(partial) && Object.hasOwn(partial, "nullValue")) write(container, last, null);
  }
}

function readPath(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  if (!path.startsWith("$")) throw new InvalidReply("a piece of a call's arguments has an invalid path");
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) throw new InvalidReply("a piece of a call's arguments has an invalid path");
    const name = match[1] ?? match[3]?.replace(/\\(.)/g, "$1") ?? match[4]?.replace(/\\(.)/g, "$1");
    if (name !== undefined && forbidden.has(name)) {
      throw new InvalidReply("a piece of a call's arguments has a path to a prototype");
    }
    steps.push(name ?? Number(match[2]));
    if (steps.length > depthMax) throw new InvalidReply("a piece of a call's arguments is nested too deeply");
  }
  return steps;
}

function descend(container: Container, name: string | number, intoList: boolean): Container {
  const known = read(container, name);
  if (Array.isArray(known) || isObject(known)) return known;
  const made: Container = intoList ? [] : {};
  write(container, name, made);
  return made;
}

function read(container: Container, name: string | number): unknown {
  if (Array.isArray(container)) return typeof name === "number" ? container[name] : undefined;
  return member(container, String(name));
}

function write(container: Container, name: string | number, value: unknown): void {
  if (!Array.isArray(container)) {
    setOwn(container, String(name), value);
    return;
  }
  if (typeof name !== "number" || name > container.length) {
    throw new InvalidReply("a piece of a call's arguments skips elements of a list");
  }
  container[name] = value;
}
