/** Holds what dialects of pictures need besides the call: how its route charges them, and the limits of a stream. */
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import { chargedKind, type ImageKind } from "#proxy/settle/image-price";
import type { ImageCall } from "./image-call.ts";

export interface ImageContext {
  /** The kind by which a picture is charged that a reply tells of. */
  readonly chargedKind: (told: ImageKind) => ImageKind;
  /** Of the types of events: `image_generation` or `image_edit`. */
  readonly eventPrefix: string;
  readonly eventBytesMax: number;
  readonly nowSeconds: () => number;
}

export function imageContextOf({ call, route, services }: AdmittedCall<ImageCall>): ImageContext {
  return {
    chargedKind: (told) =>
      route.price?.images === undefined
        ? { ...call.asked, ...known(told) }
        : chargedKind(told, call.asked, route.price),
    eventPrefix: call.endpoint.format === "ImageGenerations" ? "image_generation" : "image_edit",
    eventBytesMax: services.limits.eventBytesMax,
    nowSeconds: () => Math.floor(services.now() / 1000),
  };
}

function known({ size, quality }: ImageKind): Partial<ImageKind> {
  return { ...(size === undefined ? {} : { size }), ...(quality === undefined ? {} : { quality }) };
}
