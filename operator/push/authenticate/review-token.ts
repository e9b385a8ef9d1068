/** Asks the API server to review a token (TokenReview, `authentication.k8s.io/v1`). */
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { isRecord, tokenReviewResource } from "#operator/kubernetes/api/api-object";
import type { TokenReview, TokenReviewer } from "#operator/push/authenticate/verify-token";

/** The extra field with the name of the pod that a projected token is bound to. */
const podNameExtra = "authentication.kubernetes.io/pod-name";

export function tokenReviewer(client: Pick<ApiClient, "create">): TokenReviewer {
  return {
    async review(token, audience, signal): Promise<TokenReview> {
      const response = await client.create(tokenReviewResource, { spec: { token, audiences: [audience] } }, { signal });
      const status = isRecord(response["status"]) ? response["status"] : {};
      const user = isRecord(status["user"]) ? status["user"] : {};
      const extra = isRecord(user["extra"]) ? user["extra"] : {};
      const [pod] = strings(extra[podNameExtra]);
      return {
        isAuthenticated: status["authenticated"] === true,
        audiences: strings(status["audiences"]),
        username: typeof user["username"] === "string" ? user["username"] : "",
        ...(pod !== undefined && { pod }),
      };
    },
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
