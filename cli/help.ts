/** Renders the help texts: one page for the program and one for each command, from the list of settings. */
import picocolors from "picocolors";
import { type Command, commands, type Setting, settingsOf } from "./settings/setting-list.ts";

const summaries: Readonly<
  Record<Command, { readonly usage: string; readonly text: string; readonly example: string }>
> = {
  standalone: {
    usage: "tollgate standalone --manifests DIR",
    text: "Runs the whole gateway on one machine: operator and proxy, from a watched folder of manifests.",
    example: "tollgate standalone --manifests ./manifests --listen 0.0.0.0:8080 --egress-allow-cidrs 10.0.0.0/8",
  },
  operator: {
    usage: "tollgate operator --manifests DIR",
    text: "Compiles manifests and pushes the result to proxies.",
    example: "tollgate operator --manifests ./manifests --push-socket /run/tollgate/push.sock",
  },
  proxy: {
    usage: "tollgate proxy --operator unix:PATH",
    text: "Serves model calls with the configuration that an operator pushes.",
    example: "tollgate proxy --operator unix:/run/tollgate/push.sock --listen 0.0.0.0:8080",
  },
  validate: {
    usage: "tollgate validate FILES...",
    text: "Checks manifests as the API server and the operator would, without either: schema, rules, references, and objects that cannot be served as written. Folders are read whole.",
    example: "tollgate validate manifests/*.yaml --egress-allow-cidrs 10.0.0.0/8",
  },
  explain: {
    usage: "tollgate explain --manifests DIR --model MODEL --key NAMESPACE/NAME",
    text: "Explains which decision the proxy would take on a call, and why. A raw key is read from standard input, never from a flag.",
    example: "tollgate explain --manifests ./manifests --key team-a/bot --model gpt-5.4-mini --ip 10.1.2.3",
  },
  key: {
    usage: "tollgate key",
    text: "Makes a new key. Its manifest, which holds only the digest, goes to standard output, and the key itself to standard error.",
    example: "tollgate key --namespace team-a --name bot > bot.yaml",
  },
};

/** Help of the program: the commands. */
export function renderProgramHelp(version: string, isColored: boolean): string {
  const colors = picocolors.createColors(isColored);
  const lines = commands.map((command) => `  ${colors.cyan(command.padEnd(12))}${summaries[command].text}`);
  return [
    `${colors.bold("tollgate")} ${version}: a gateway in front of AI models`,
    "",
    `${colors.bold("Usage:")} tollgate COMMAND [FLAGS]`,
    "",
    colors.bold("Commands"),
    ...lines,
    "",
    "`tollgate COMMAND --help` shows all settings of a command.",
    "Exit status: 0 success, 1 failure, 2 wrong usage.",
    "",
  ].join("\n");
}

/** Help of one command: all its settings with their defaults, in groups. */
export function renderCommandHelp(command: Command, isColored: boolean, width: number): string {
  const colors = picocolors.createColors(isColored);
  const { usage, text, example } = summaries[command];
  const settings = settingsOf(command);
  const groups = [...new Set(settings.map((setting) => setting.group))];
  const body = groups.flatMap((group) => [
    "",
    colors.bold(group),
    ...settings
      .filter((setting) => setting.group === group)
      .flatMap((setting) => renderSetting(setting, command, colors, width)),
  ]);
  const sources =
    command === "key"
      ? []
      : [
          "",
          ...wrap(
            "Values come from flags, then TOLLGATE_* variables (--quota-store is TOLLGATE_QUOTA_STORE), then the YAML file given by --config (quota: {store: ...}), then defaults. Lists are comma-separated.",
            0,
            width,
          ),
        ];
  return [
    ...wrap(text, 0, width),
    "",
    `${colors.bold("Usage:")} ${usage} [FLAGS]`,
    `${colors.bold("Example:")} ${example}`,
    ...body,
    ...sources,
    "",
  ].join("\n");
}

function renderSetting(
  setting: Setting,
  command: Command,
  colors: ReturnType<typeof picocolors.createColors>,
  width: number,
): string[] {
  const head = `  ${colors.cyan(setting.flag)}${setting.placeholder === "" ? "" : ` ${setting.placeholder}`}`;
  const value = describeDefault(setting, command);
  return [`${head}${value === "" ? "" : colors.dim(`  [${value}]`)}`, ...wrap(setting.description, 6, width)];
}

/** The default of a setting in words. @param command for the help of one command; else for all that read the setting */
export function describeDefault(setting: Setting, command?: Command): string {
  const readers = command === undefined ? setting.commands : [command];
  if (readers.every((reader) => setting.requiredBy.includes(reader))) return "required";
  const { defaultValue } = setting;
  if (defaultValue === undefined) return setting.unset === undefined ? "" : setting.unset;
  if (typeof defaultValue === "object") return defaultValue.length === 0 ? "none" : defaultValue.join(",");
  return String(defaultValue);
}

function wrap(text: string, indent: number, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((part) => " ".repeat(indent) + part);
}
