/** Breaks text into lines of at most so many characters, between words where it can. */
export function wrapText(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ").flatMap((whole) => cutWord(whole, columns))) {
      const joined = line === "" ? word : `${line} ${word}`;
      if (joined.length <= columns) line = joined;
      else {
        lines.push(line);
        line = word;
      }
    }
    lines.push(line);
  }
  return lines;
}

function cutWord(word: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < word.length; from += columns) pieces.push(word.slice(from, from + columns));
  return pieces;
}
