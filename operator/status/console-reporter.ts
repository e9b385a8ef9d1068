/**
 * Reports changes of status to a person at the terminal: changes that come together are reported together, many objects
 * in few lines, and a Secret that only waits for an environment variable in one calm line.
 */
import { hasReason } from "#operator/resources/reasons";
import type { Origin, ResourceSet } from "#operator/resources/resource";
import { type ConditionLine, describeConditions, describeLive, line } from "./report-changes.ts";
import type { StatusDocument } from "./status-document.ts";

/** A Secret that would come from the environment, and its variable that is not set. */
export interface AwaitedSecret {
  readonly namespace: string;
  readonly name: string;
  readonly variable: string;
}

export interface ConsoleReporterOptions {
  readonly log: { info(message: string): void; warn(message: string): void };
  readonly resources: Pick<ResourceSet, "channels">;
  readonly awaited?: readonly AwaitedSecret[];
  /** Where to find the lines that are left out. */
  readonly rest: string;
  readonly quietMs?: number;
  readonly longestMs?: number;
}

/** Lines reported at once; nobody reads more. */
const linesMax = 20;
/** Up to this many objects that went live are named one by one. */
const liveLinesMax = 3;

export class ConsoleReporter {
  readonly #options: ConsoleReporterOptions;
  readonly #awaited: ReadonlyMap<string, string>;
  #lines: ConditionLine[] = [];
  #live = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #sinceMs: number | undefined;

  constructor(options: ConsoleReporterOptions) {
    this.#options = options;
    this.#awaited = new Map(
      options.awaited?.map(({ namespace, name, variable }) => [`${namespace}/${name}`, variable]),
    );
  }

  /** @param after undefined: the object is gone */
  report(before: StatusDocument | undefined, after: StatusDocument | undefined, origin: Origin | undefined): void {
    const document = after ?? before;
    if (document === undefined) return;
    const id = `${document.kind} ${document.metadata.namespace}/${document.metadata.name}`;
    if (after === undefined) {
      this.#live.delete(id);
      this.#lines.push({ text: `${id}: removed`, isRefusal: false });
    } else {
      const variables = this.#variablesAwaitedBy(after);
      if (variables.length === 0) this.#lines.push(...describeConditions(before, after, origin));
      else if (before === undefined)
        this.#lines.push({ text: line(after, awaiting(variables), origin), isRefusal: false });
      const live = describeLive(before, after, origin);
      if (live !== undefined) this.#live.set(id, live);
    }
    if (this.#lines.length > 0 || this.#live.size > 0) this.#flushSoon();
  }

  /** Reports the gathered changes. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#sinceMs = undefined;
    const { log, rest } = this.#options;
    // Refusals come first: the rest may exceed the number of lines.
    const lines = this.#lines.toSorted((left, right) => Number(right.isRefusal) - Number(left.isRefusal));
    const live = [...this.#live.values()];
    this.#lines = [];
    this.#live = new Map();
    for (const { text, isRefusal } of lines.slice(0, linesMax)) log[isRefusal ? "warn" : "info"](text);
    if (lines.length > linesMax) log.info(`and ${lines.length - linesMax} more; ${rest}`);
    if (live.length <= liveLinesMax) for (const text of live) log.info(text);
    else log.info(`${live.length} objects are live: every ready proxy has acknowledged them.`);
  }

  #flushSoon(): void {
    const { quietMs = 100, longestMs = 2_000 } = this.#options;
    const nowMs = performance.now();
    this.#sinceMs ??= nowMs;
    clearTimeout(this.#timer);
    const delayMs = Math.max(0, Math.min(quietMs, this.#sinceMs + longestMs - nowMs));
    this.#timer = setTimeout(() => this.flush(), delayMs).unref();
  }

  /** Variables that would give a channel its missing Secrets. */
  #variablesAwaitedBy({ kind, metadata, status }: StatusDocument): string[] {
    if (kind !== "Channel" || this.#awaited.size === 0) return [];
    if (!status.conditions.some((condition) => hasReason(condition, "ResolvedRefs", "SecretNotFound"))) return [];
    const { namespace, name } = metadata;
    const credentials = this.#options.resources.channels.get(`${namespace}/${name}`)?.spec?.credentials ?? [];
    const variables = credentials.flatMap(
      ({ secretKeyRef }) => this.#awaited.get(`${namespace}/${secretKeyRef.name}`) ?? [],
    );
    return [...new Set(variables)];
  }
}

function awaiting(variables: readonly string[]): string {
  return `not in use until ${variables.join(" and ")} is set in the environment`;
}
