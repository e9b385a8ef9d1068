/** The reference page of all settings, from `cli/settings.schema.json`. */
import { join } from "node:path";
import { describeDefault } from "#cli/help";
import { settingList } from "#cli/settings/setting-list";
import { projectRoot } from "#scripts/run";
import type { GeneratedFile } from "./generated-file.ts";

export async function generateSettingsPage(): Promise<readonly GeneratedFile[]> {
  const groups = [...new Set(settingList.map((setting) => setting.group))];
  const lines = [
    "# Settings",
    "",
    "<!-- Generated from cli/settings.schema.json by `npm run generate`; do not edit. -->",
    "",
    "Values come from flags, then `TOLLGATE_*` variables, then the YAML file given by `--config`, then defaults. Unknown flags",
    "and file members are errors, unknown variables a warning. A setting `egress.allowCIDRs` is the flag `--egress-allow-cidrs`",
    "and the variable `TOLLGATE_EGRESS_ALLOW_CIDRS`; lists are comma-separated. Durations are written `500ms`, `10s`, `1m30s`,",
    "`2h`; sizes `16KiB`, `32MiB`, `1GiB`. Booleans are switched off by `--no-...`.",
    ...groups.flatMap((group) => [
      "",
      `## ${group}`,
      "",
      "| Setting | Flag | Default | Commands | Meaning |",
      "| --- | --- | --- | --- | --- |",
      ...settingList
        .filter((setting) => setting.group === group)
        .map((setting) =>
          [
            "",
            setting.isFlagOnly ? "flag only" : `\`${setting.name}\``,
            `\`${setting.flag}${setting.placeholder === "" ? "" : ` ${setting.placeholder}`}\``.replaceAll("|", "\\|"),
            describeDefault(setting),
            setting.commands.join(", "),
            setting.description.replaceAll("|", "\\|"),
            "",
          ]
            .join(" | ")
            .trim(),
        ),
    ]),
    "",
  ];
  return [{ path: join(projectRoot, "docs", "settings.md"), content: lines.join("\n") }];
}
