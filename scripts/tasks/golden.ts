/** `npm run golden`: the golden suites; with `-- --update` their expectations are written anew for review. */
import { runSuites } from "#scripts/suites";

const isUpdate = process.argv.includes("--update");
if (isUpdate) process.env["UPDATE_GOLDENS"] = "1";
const { passed, failed } = await runSuites(
  ["golden", "chart/golden"],
  process.argv.slice(2).filter((argument) => argument !== "--update"),
);
console.log(`\n${passed} passed, ${failed} failed${isUpdate ? "; expectations written, read the difference" : ""}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
