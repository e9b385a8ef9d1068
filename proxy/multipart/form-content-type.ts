/**
 * Reads the `Content-Type` of a request whose body is a form (docs/design/reliability.md E7, E8).
 */
import { GatewayError } from "#proxy/errors";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { invalidForm } from "./invalid-form.ts";
import { readParameters } from "./parameters.ts";

const mediaType = /^multipart\/form-data[ \t]*(?=;|$)/i;
/** RFC 2046 section 5.1.1: 1 to 70 characters, and no space at the end. */
const boundaryForm = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** Whether the body claims to be a form. For endpoints that take JSON as well; `readBoundary` judges the rest of it. */
export function isForm(headers: RawHeaders): boolean {
  const types = headerValues(headers, "content-type");
  return types.length === 1 && mediaType.test(types[0] ?? "");
}

/**
 * @returns the boundary between the parts
 * @throws GatewayError `unsupported_media_type` where the body is no form, `invalid_form` where its boundary is none
 */
export function readBoundary(headers: RawHeaders): string {
  const [type = ""] = headerValues(headers, "content-type");
  if (!isForm(headers)) {
    throw new GatewayError("unsupported_media_type", "'Content-Type' must be 'multipart/form-data', once.");
  }
  const parameters = readParameters(type.replace(mediaType, ""));
  const boundary = parameters?.get("boundary");
  const charset = parameters?.get("charset")?.toLowerCase() ?? "utf-8";
  if (boundary === undefined || !boundaryForm.test(boundary)) {
    throw invalidForm("its 'Content-Type' needs one 'boundary' of 1 to 70 characters");
  }
  if (charset !== "utf-8") {
    throw new GatewayError("unsupported_media_type", "The only charset of a form is utf-8.");
  }
  return boundary;
}
