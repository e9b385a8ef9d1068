/** What the `Dockerfile` says of an image beside its files, for those who build the same image without an engine. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "#scripts/run";

export interface ImageConfig {
  readonly entrypoint: readonly string[];
  readonly user: string;
  readonly workFolder: string;
}

/** @param target a stage of the `Dockerfile`; what it does not say comes from the stage that it is built on */
export function readImageConfig(target: string): ImageConfig {
  const stages = new Map<string, { base: string; lines: string[] }>();
  let current: string[] = [];
  for (const line of readFileSync(join(projectRoot, "Dockerfile"), "utf8").split("\n")) {
    const stage = /^FROM (\S+) AS (\S+)$/.exec(line);
    if (stage?.[1] === undefined || stage[2] === undefined) current.push(line);
    else {
      current = [];
      stages.set(stage[2], { base: stage[1], lines: current });
    }
  }
  const find = (stageName: string, instruction: string): string => {
    const stage = stages.get(stageName);
    if (stage === undefined) throw new Error(`the Dockerfile says no ${instruction} for ${target}`);
    const line = stage.lines.find((text) => text.startsWith(`${instruction} `));
    return line === undefined ? find(stage.base, instruction) : line.slice(instruction.length + 1);
  };
  return {
    entrypoint: JSON.parse(find(target, "ENTRYPOINT")),
    user: find(target, "USER"),
    workFolder: find(target, "WORKDIR"),
  };
}
