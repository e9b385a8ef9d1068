/** `npm run format`: formats every file and applies the safe fixes of the linter. */
import { runTool } from "#scripts/run";

process.exit(runTool("@biomejs/biome/bin/biome", ["check", "--write", "."], "inherit").status);
