/** Says a size in pixels as Google's models take it: the nearest shape, and how large (docs/design/images.md 5). Pure. */

/** generateContent: Google, "Image generation", section "Aspect ratios". */
export const contentRatios = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"] as const;
/** Imagen: Google, "Imagen", section "Configuration". */
export const predictRatios = ["1:1", "3:4", "4:3", "9:16", "16:9"] as const;

export interface GoogleSize {
  readonly aspectRatio: string;
  /** Undefined for the usual 1K, which older models do not know by name. */
  readonly imageSize: "2K" | "4K" | undefined;
}

/**
 * @param size `<width>x<height>`
 * @returns undefined where the model chooses
 */
export function googleSize(size: string | undefined, ratios: readonly string[]): GoogleSize | undefined {
  const [width, height] = (size ?? "").split("x").map(Number);
  if (width === undefined || height === undefined || !(width > 0) || !(height > 0)) return undefined;
  const side = Math.sqrt(width * height);
  // Halfway between two sizes, as the eye counts.
  const imageSize = side < 1_024 * Math.SQRT2 ? undefined : side < 2_048 * Math.SQRT2 ? "2K" : "4K";
  return { aspectRatio: nearestRatio(width / height, ratios), imageSize };
}

function nearestRatio(wanted: number, ratios: readonly string[]): string {
  let nearest = "1:1";
  let least = Number.POSITIVE_INFINITY;
  for (const ratio of ratios) {
    const [across = 1, down = 1] = ratio.split(":").map(Number);
    const distance = Math.abs(Math.log(wanted / (across / down)));
    if (distance < least) [nearest, least] = [ratio, distance];
  }
  return nearest;
}
