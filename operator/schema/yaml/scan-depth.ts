/** Estimates how deep a text nests without parsing it. */

/**
 * A cheap check of the nesting before a recursive parser reads the text.
 *
 * Counts open brackets and, for block style, growing indentations and dashes. Quoted text is counted in error, so the
 * bound is for what overflows a parser; what a manifest may have is checked exactly afterwards.
 */
export function findExcessiveDepth(
  text: string,
  depthMax: number,
): { readonly line: number; readonly column: number } | undefined {
  let brackets = 0;
  let line = 1;
  let lineStart = 0;
  let isIndenting = true;
  let dashes = 0;
  const indents: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 10) {
      line += 1;
      lineStart = index + 1;
      isIndenting = true;
      dashes = 0;
      // A new document: brackets in quoted text must not add up over a whole file.
      if (text.startsWith("---", lineStart)) brackets = 0;
      continue;
    }
    if (isIndenting && code !== 32) {
      if (code === 45 && text.charCodeAt(index + 1) === 32) dashes += 1;
      else {
        isIndenting = false;
        const column = index - lineStart;
        while ((indents.at(-1) ?? -1) >= column) indents.pop();
        indents.push(column);
      }
    }
    if (code === 91 || code === 123) brackets += 1;
    else if ((code === 93 || code === 125) && brackets > 0) brackets -= 1;
    if (brackets > depthMax || indents.length + dashes > depthMax) {
      return { line, column: index - lineStart + 1 };
    }
  }
  return undefined;
}
