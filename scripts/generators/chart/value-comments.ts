/** The comments of `values.yaml`: the only place where the chart's values are documented. */
import { isMap, isScalar, parseDocument, type YAMLMap } from "yaml";

export interface ChartValue {
  /** Members from the top. */
  readonly path: readonly string[];
  readonly description: string;
  /** What holds without it; maps that have members of their own have none. */
  readonly defaultValue: unknown;
  /** Whether its members are values of the chart, too. */
  readonly isGroup: boolean;
}

/** Blocks of members are groups; `{...}` on one line is one value. */
export function readChartValues(text: string): readonly ChartValue[] {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) throw new Error("values.yaml holds no map");
  return readMap(contents, []);
}

function readMap(map: YAMLMap, above: readonly string[]): ChartValue[] {
  return map.items.flatMap((pair, index) => {
    if (!isScalar(pair.key)) throw new Error(`a member of ${above.join(".")} has no plain name`);
    const path = [...above, String(pair.key.value)];
    // The comment above the first member belongs to its map.
    const comment = pair.key.commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    const value = pair.value;
    const isGroup = isMap(value) && value.flow !== true && value.items.length > 0;
    const own: ChartValue = {
      path,
      description: describe(comment),
      defaultValue: isGroup ? undefined : isMap(value) || value !== null ? toPlain(value) : null,
      isGroup,
    };
    return isGroup ? [own, ...readMap(value, path)] : [own];
  });
}

function toPlain(node: unknown): unknown {
  return typeof node === "object" && node !== null && "toJSON" in node && typeof node.toJSON === "function"
    ? node.toJSON()
    : node;
}

/** The last paragraph, so that words about the file itself stay there. */
function describe(comment: string | undefined | null): string {
  const paragraphs = (comment ?? "").split(/\n\s*\n/);
  return (paragraphs.at(-1) ?? "")
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();
}
