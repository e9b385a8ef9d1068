/**
 * Refuses images that nothing would be charged for, to callers whose spending is limited. Endpoints that make images call
 * it after `authorizeModel`, when they know the sizes, and before anything is reserved.
 */
import { GatewayError } from "#proxy/errors";
import { canPriceImages, type ImageKind } from "#proxy/settle/image-price";
import type { Route } from "#proxy/snapshot/types.gen";
import type { ModelQuestion } from "./decide.ts";
import { mayNotSpendFreely } from "./missing-prices.ts";

/**
 * @param images size and quality as the client asks for them
 * @throws GatewayError `model_not_allowed` where the route prices neither such an image nor tokens or requests
 *   (docs/design/limits-and-money.md 12)
 */
export function authorizeImages(
  { key, snapshot, model }: Pick<ModelQuestion, "key" | "snapshot" | "model">,
  route: Route,
  images: readonly ImageKind[],
): void {
  if (canPriceImages(images, route.price) || !mayNotSpendFreely(key, route, model, snapshot)) return;
  throw new GatewayError(
    "model_not_allowed",
    "The model has no price for images of this size and quality, and this API key may only spend a limited amount. Ask for another size or quality.",
    { param: "size" },
  );
}
