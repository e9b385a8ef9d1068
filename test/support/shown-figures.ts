/**
 * Figures that a test shows: printed as they come, and kept for whoever makes a table of the run
 * (`scripts/count-reporter.mjs` takes them when the test has ended).
 */
const shown: string[] = [];

/** @param text with the limit beside the number, as in `refused after 12 ms, limit 1000` */
export function showFigure(text: string): void {
  console.log(`      ${text}`);
  shown.push(text);
}

/** What has been shown since the last time. */
export function takeShownFigures(): string[] {
  return shown.splice(0);
}
