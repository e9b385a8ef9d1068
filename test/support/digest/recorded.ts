/** Recorded replies of real providers: where they lie and which there are. They are read and never copied. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { DigestProtocol } from "./facts.ts";

export interface Recorded {
  readonly id: string;
  readonly protocol: DigestProtocol;
  readonly isStream: boolean;
  readonly httpStatus: number;
  readonly bytes: () => Buffer;
  /** Headers of the reply as far as the recording kept them, content type among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request that caused it; undefined where the recording did not keep it. */
  readonly request: () => Buffer | undefined;
  /** The facts that whoever recorded it found. */
  readonly expected: Readonly<Record<string, unknown>>;
}

const root = process.env["TOLLGATE_FIXTURES"] ?? path.resolve(import.meta.dirname, "../../../../shared/fixtures");

/** All recorded chat replies; undefined where the folder is absent, which a suite must say aloud. */
export function readRecorded(): readonly Recorded[] | undefined {
  if (!existsSync(path.join(root, "index.json"))) return undefined;
  const index: unknown = JSON.parse(readFileSync(path.join(root, "index.json"), "utf8"));
  const digests: unknown = JSON.parse(readFileSync(path.join(root, "digests.json"), "utf8"));
  const recorded: Recorded[] = [];
  for (const entry of entries(index)) {
    const expected = Object.getOwnPropertyDescriptor(digests, entry.id)?.value;
    if (expected === undefined) continue;
    recorded.push({
      id: entry.id,
      protocol: entry.protocol,
      isStream: entry.stream,
      httpStatus: entry.http_status,
      bytes: () => readFileSync(path.join(root, entry.file)),
      headers: { "content-type": entry.content_type, ...entry.response_headers },
      request: () => readIfThere(path.join(root, `${entry.id}.request.json`)),
      expected,
    });
  }
  return recorded;
}

/** One file of the folder by its path in it, such as a reply that is no chat; undefined where it is absent. */
export function readRecordedFile(file: string): Buffer | undefined {
  return readIfThere(path.join(root, file));
}

interface IndexEntry {
  readonly id: string;
  readonly file: string;
  readonly protocol: DigestProtocol;
  readonly stream: boolean;
  readonly http_status: number;
  readonly content_type: string;
  readonly response_headers?: Readonly<Record<string, string>>;
}

function readIfThere(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}

function entries(index: unknown): readonly IndexEntry[] {
  return typeof index === "object" && index !== null ? Reflect.get(index, "fixtures") : [];
}

/** Says aloud that a suite is skipped. */
export function explainAbsence(suite: string): string {
  return `${suite}: SKIPPED, no recorded traffic at ${root} (set TOLLGATE_FIXTURES)`;
}
