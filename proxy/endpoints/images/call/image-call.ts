/** Describes a call that makes pictures, whichever of the image endpoints it came to. */
import type { ModelCall } from "#proxy/formats/model-call";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { Form, FormFile } from "#proxy/multipart/form";
import type { CallPath } from "#proxy/neutral/wire";
import type { ImageKind } from "#proxy/settle/image-price";

/** A picture that the call brings, where the client put it. */
export type SourceImage =
  | { readonly kind: "file"; readonly where: string; readonly file: FormFile }
  /** An address, a data URL or bare base64. */
  | { readonly kind: "text"; readonly where: string; readonly text: string }
  /** A file that the provider keeps. */
  | { readonly kind: "id"; readonly where: string };

export interface ImagePath extends CallPath {
  /** Gemini-style only: decoded, without a `models/` prefix. */
  readonly modelInPath?: string;
}

export interface ImageCall extends ModelCall {
  /** The client's JSON, or the fields of its form as one object. */
  readonly body: ScannedObject;
  /** Where the call came as a form. */
  readonly form: Pick<Form, "parts"> | undefined;
  /** Empty for variations, which have none. */
  readonly prompt: string;
  /** `n`: pictures that are asked for. */
  readonly count: number;
  readonly asked: ImageKind;
  /** Pictures that are shown before each whole one. */
  readonly partialImages: number;
  /** Frames of each picture; 1 where it does not move. */
  readonly frames: number;
  /** Drawn as text (SVG), which is charged as text. */
  readonly isDrawnAsText: boolean;
  readonly sources: readonly SourceImage[];
  readonly mask: SourceImage | undefined;
}
