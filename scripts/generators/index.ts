/** All generators of committed files; each yields the files it owns with their full content. */
import { writeDashboards } from "./chart/dashboards.ts";
import { completeValuesSchema, copyCrds, writeChartReadme } from "./chart/files.ts";
import { generateEndpointPage, generateServedNames } from "./endpoints.ts";
import type { GeneratedFile } from "./generated-file.ts";
import { generatePresets, generateProviderPage } from "./presets/presets.ts";
import { generateResourcePage } from "./resource-page.ts";
import { generateKindSchemas, generateResourceTypes } from "./resources.ts";
import { generateSettingsPage } from "./settings.ts";
import { generateSnapshotTypes, generateSnapshotValidator } from "./snapshot.ts";
import { generateStatusPage } from "./status-page.ts";
import { generateTranslationMatrix } from "./translation-matrix.ts";

export type Generator = () => Promise<readonly GeneratedFile[]>;

export const generators: readonly Generator[] = [
  generateSnapshotTypes,
  generateSnapshotValidator,
  generateResourceTypes,
  generateKindSchemas,
  generatePresets,
  generateServedNames,
  generateEndpointPage,
  generateSettingsPage,
  generateResourcePage,
  generateProviderPage,
  generateStatusPage,
  generateTranslationMatrix,
  copyCrds,
  completeValuesSchema,
  writeChartReadme,
  writeDashboards,
];
