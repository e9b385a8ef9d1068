import assert from "node:assert/strict";
import { authorizeImages } from "#proxy/authorize/authorize-images";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireAccount, wireKey, wireRoute } from "#test/support/wire-objects";

describe("authorizeImages()", () => {
  const snapshot = snapshotWith(wireAccount("funded", { creditNanos: "5" }));
  const route = wireRoute("m", { capabilities: ["ImageGeneration"], price: { images: [{ size: "s", price: "1" }] } });
  const limited = { key: wireKey("limited", { account: "funded" }), snapshot, model: "m" };
  const image = (size: string | undefined) => [{ size, quality: undefined }];

  it("lets a size run that has a price, or could have one", () => {
    for (const size of ["s", "auto", undefined]) authorizeImages(limited, route, image(size));
  });

  it("refuses a size without a price to a key whose spending is limited", () => {
    assert.throws(() => authorizeImages(limited, route, image("l")), { code: "model_not_allowed", param: "size" });
  });

  it("lets it run where tokens or requests have a price", () => {
    for (const price of [{ imageOutput: "1" }, { output: "1" }, { request: "1" }]) {
      authorizeImages(limited, wireRoute("m", { price: { ...route.price, ...price } }), image("l"));
    }
  });

  it("lets a key run it that may spend freely", () => {
    authorizeImages({ ...limited, key: wireKey("free") }, route, image("l"));
  });
});
