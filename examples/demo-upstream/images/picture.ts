/** Draws a picture that shows a text: as PNG with letters of pixels, or as SVG. Pure: the same text, the same picture. */
import { glyphHeight, glyphWidth, isSet } from "./glyphs.ts";
import { type Colour, encodePng } from "./png.ts";
import { wrapText } from "./wrap-text.ts";

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

export interface PictureOrder extends PictureSize {
  /** Longer texts end with dots. */
  readonly text: string;
  readonly isTransparent: boolean;
}

export type PictureFormat = "png" | "svg";

export interface Picture {
  readonly mimeType: string;
  readonly bytes: Buffer;
}

const shownCharactersMax = 400;
/** A letter's cell, with the gap to the next one. */
const cellWidth = glyphWidth + 1;
const cellHeight = glyphHeight + 2;
const ink: Colour = [250, 250, 245];
const grounds: readonly Colour[] = [
  [38, 70, 83],
  [32, 110, 104],
  [156, 84, 44],
  [120, 40, 60],
  [70, 60, 120],
  [40, 90, 50],
];

export function drawPicture(order: PictureOrder, format: PictureFormat): Picture {
  return format === "svg" ? drawSvg(order) : drawPng(order);
}

interface Layout {
  readonly lines: readonly string[];
  /** Pixels of the picture for each pixel of a glyph. */
  readonly scale: number;
}

/** The largest letters with which the whole text fits, up to a tenth of the height each. */
function layOut({ text, width, height }: PictureOrder): Layout {
  const shown = text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}...` : text;
  const largest = Math.max(1, Math.floor(height / (10 * glyphHeight)));
  for (let scale = largest; ; scale -= 1) {
    const columns = Math.max(1, Math.floor((width * 0.9) / (cellWidth * scale)));
    const rows = Math.max(1, Math.floor((height * 0.9) / (cellHeight * scale)));
    const lines = wrapText(shown, columns);
    if (lines.length <= rows || scale === 1) return { lines: lines.slice(0, rows), scale };
  }
}

/** By the text, so that pictures of different prompts differ at a glance. */
function groundOf(text: string): Colour {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return grounds[sum % grounds.length] ?? [0, 0, 0];
}

function drawPng(order: PictureOrder): Picture {
  const { width, height, text, isTransparent } = order;
  const { lines, scale } = layOut(order);
  const inked = new Uint8Array(width * height);
  const top = Math.floor((height - lines.length * cellHeight * scale) / 2);
  for (const [row, line] of lines.entries()) {
    const left = Math.floor((width - line.length * cellWidth * scale) / 2);
    for (const [column, character] of line.split("").entries())
      drawGlyph(inked, order, character, left + column * cellWidth * scale, top + row * cellHeight * scale, scale);
  }
  const ground = groundOf(text);
  return { mimeType: "image/png", bytes: encodePng({ width, height, inked, ground, ink, isTransparent }) };
}

/** Each pixel of the glyph becomes a square of `scale` pixels; those beyond the picture are left out. */
function drawGlyph(
  inked: Uint8Array,
  { width, height }: PictureSize,
  character: string,
  left: number,
  top: number,
  scale: number,
): void {
  const within = (at: number, side: number): number => Math.min(side, Math.max(0, at));
  for (let row = 0; row < glyphHeight; row += 1)
    for (let column = 0; column < glyphWidth; column += 1) {
      if (!isSet(character, column, row)) continue;
      const from = within(left + column * scale, width);
      const to = within(left + (column + 1) * scale, width);
      for (let y = within(top + row * scale, height); y < within(top + (row + 1) * scale, height); y += 1)
        inked.fill(1, y * width + from, y * width + to);
    }
}

function drawSvg(order: PictureOrder): Picture {
  const { width, height, text, isTransparent } = order;
  const { lines, scale } = layOut(order);
  const lineHeight = cellHeight * scale;
  const top = (height - lines.length * lineHeight) / 2 + lineHeight * 0.75;
  const rows = lines.map(
    (line, row) => `<text x="${width / 2}" y="${top + row * lineHeight}">${escapeXml(line) || " "}</text>`,
  );
  const ground = isTransparent ? "none" : `rgb(${groundOf(text).join(",")})`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="100%" height="100%" fill="${ground}"/>`,
    `<g fill="rgb(${ink.join(",")})" font-family="monospace" font-size="${glyphHeight * scale}" text-anchor="middle">`,
    ...rows,
    "</g></svg>",
  ].join("\n");
  return { mimeType: "image/svg+xml", bytes: Buffer.from(svg) };
}

/** XML takes no control characters but tab and line breaks. */
function escapeXml(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
