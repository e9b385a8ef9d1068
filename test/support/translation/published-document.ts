/** The vendors' published API documents, beside the recorded traffic: read there, never copied. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const fixtures = process.env["TOLLGATE_FIXTURES"] ?? path.resolve(import.meta.dirname, "../../../../shared/fixtures");

/** @returns undefined where the document is absent, which a suite must say aloud */
export function publishedDocument(file: string): object | undefined {
  const place = path.resolve(fixtures, "../specs", file);
  return existsSync(place) ? JSON.parse(readFileSync(place, "utf8")) : undefined;
}
