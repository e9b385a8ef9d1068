/** An operator with the rights and the settings of a release of the chart, but for what a pod would have mounted. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { type ControlPlane, freePort } from "#test/support/kube-control-plane";
import { OperatorUnderTest } from "./cluster-rig.ts";

export interface ChartOperatorOptions {
  readonly plane: ControlPlane;
  readonly name: string;
  readonly namespace: string;
  /** Its ServiceAccount. */
  readonly account: string;
  /** Text of the chart's settings file. */
  readonly settings: string;
}

export async function startChartOperator(options: ChartOperatorOptions): Promise<OperatorUnderTest> {
  const { plane, name, namespace, account } = options;
  const folder = join(plane.folder, name);
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const content = parse(options.settings);
  delete content.operatorAdmin;
  delete content.data;
  content.push.listen = `127.0.0.1:${port}`;
  content.push.token = join(folder, "token");
  await writeFile(join(folder, "settings.yaml"), stringify(content));
  const { audience } = content.push;
  await writeFile(content.push.token, await plane.tokenOf(namespace, account, { audience }));
  const kubeconfig = await plane.kubeconfig({ token: await plane.tokenOf(namespace, account), namespace });
  return new OperatorUnderTest(name, await freePort(), folder, [
    `--config=${join(folder, "settings.yaml")}`,
    `--kubernetes-kubeconfig=${kubeconfig}`,
    "--lease-duration=3s",
    "--lease-renew-deadline=2s",
    "--lease-retry-period=400ms",
    "--push-tls-check=2s",
    "--watch-compare=2s",
    "--logs-format=json",
  ]);
}
