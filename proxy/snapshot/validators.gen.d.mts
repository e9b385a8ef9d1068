// Generated from schema.json, crds/*.yaml and cli/settings.schema.json by `npm run generate`; do not edit.
import type { ValidateFunction } from "ajv";
export const key: ValidateFunction;
export const account: ValidateFunction;
export const channel: ValidateFunction;
export const credential: ValidateFunction;
export const route: ValidateFunction;
export const fleet: ValidateFunction;
